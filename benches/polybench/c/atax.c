/* y = A' (A x) */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_atax(REAL y[restrict N], REAL Ax[restrict M], REAL A[restrict N][M], REAL x[restrict N])
{
    for (int i = 0; i < M; i++)
        Ax[i] = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            Ax[i] += A[j][i] * x[j];
    for (int j = 0; j < N; j++) {
        y[j] = 0;
        for (int i = 0; i < M; i++)
            y[j] += A[j][i] * Ax[i];
    }
}
