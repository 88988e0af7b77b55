/* The covariance matrix of the columns of `data`, which is centred on the way */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_covariance(REAL cov[restrict M][M], REAL data[restrict M][N], REAL mean[restrict M])
{
    for (int j = 0; j < M; j++) {
        mean[j] = 0;
        for (int i = 0; i < N; i++)
            mean[j] += data[j][i];
        mean[j] /= N;
    }
    for (int j = 0; j < M; j++)
        for (int i = 0; i < N; i++)
            data[j][i] -= mean[j];
    for (int i = 0; i < M; i++)
        for (int j = i; j < M; j++) {
            cov[j][i] = 0;
            for (int k = 0; k < N; k++)
                cov[j][i] += data[i][k] * data[j][k];
            cov[j][i] /= N - 1.0;
            cov[i][j] = cov[j][i];
        }
}
