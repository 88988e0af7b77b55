/* C = alpha A A' + beta C, the lower triangle of a symmetric C */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_syrk(REAL C[restrict N][N], REAL A[restrict M][N], REAL alpha, REAL beta)
{
    for (int j = 0; j < N; j++) {
        for (int i = j; i < N; i++)
            C[j][i] *= beta;
        for (int k = 0; k < M; k++)
            for (int i = j; i < N; i++)
                C[j][i] += alpha * A[k][i] * A[k][j];
    }
}
