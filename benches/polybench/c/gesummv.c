/* y = alpha A x + beta B x */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_gesummv(REAL y[restrict N], REAL Ax[restrict N], REAL A[restrict N][N], REAL B[restrict N][N],
                    REAL x[restrict N], REAL alpha, REAL beta)
{
    for (int i = 0; i < N; i++) {
        Ax[i] = 0;
        y[i] = 0;
        for (int j = 0; j < N; j++) {
            Ax[i] += A[j][i] * x[j];
            y[i] += B[j][i] * x[j];
        }
        y[i] = alpha * Ax[i] + beta * y[i];
    }
}
