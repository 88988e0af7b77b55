/* The correlation matrix of the columns of `data`, which is centred and scaled on the way */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_correlation(REAL corr[restrict M][M], REAL data[restrict M][N], REAL mean[restrict M], REAL stddev[restrict M])
{
    for (int j = 0; j < M; j++) {
        mean[j] = 0;
        for (int i = 0; i < N; i++)
            mean[j] += data[j][i];
        mean[j] /= N;
    }
    for (int j = 0; j < M; j++) {
        stddev[j] = 0;
        for (int i = 0; i < N; i++)
            stddev[j] += (data[j][i] - mean[j]) * (data[j][i] - mean[j]);
        stddev[j] = sqrt(stddev[j] / N);
        if (stddev[j] <= 0.1)
            stddev[j] = 1;
    }
    for (int j = 0; j < M; j++)
        for (int i = 0; i < N; i++)
            data[j][i] = (data[j][i] - mean[j]) / (sqrt((double)N) * stddev[j]);
    for (int i = 0; i < M - 1; i++) {
        corr[i][i] = 1;
        for (int j = i + 1; j < M; j++) {
            corr[j][i] = 0;
            for (int k = 0; k < N; k++)
                corr[j][i] += data[i][k] * data[j][k];
            corr[i][j] = corr[j][i];
        }
    }
    corr[M - 1][M - 1] = 1;
}
