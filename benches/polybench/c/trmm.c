/* B = alpha A' B with a unit lower triangular A */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_trmm(REAL B[restrict N][M], REAL A[restrict M][M], REAL alpha)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            for (int k = i + 1; k < M; k++)
                B[j][i] += A[i][k] * B[j][k];
            B[j][i] *= alpha;
        }
}
