/* C = alpha A B + beta C with a symmetric A, of which the lower triangle is stored */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_symm(REAL C[restrict N][M], REAL A[restrict M][M], REAL B[restrict N][M], REAL alpha, REAL beta)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            REAL total = 0;
            for (int k = 0; k < i; k++) {
                C[j][k] += alpha * B[j][i] * A[k][i];
                total += B[j][k] * A[k][i];
            }
            C[j][i] = beta * C[j][i] + alpha * B[j][i] * A[i][i] + alpha * total;
        }
}
