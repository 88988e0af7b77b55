/* Two rank-one updates of A, then x = beta A' y + z and w = alpha A x */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_gemver(REAL A[restrict N][N], REAL u1[restrict N], REAL v1[restrict N], REAL u2[restrict N],
                   REAL v2[restrict N], REAL w[restrict N], REAL x[restrict N], REAL y[restrict N], REAL z[restrict N],
                   REAL alpha, REAL beta)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            A[j][i] += u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i] += beta * A[i][j] * y[j];
    for (int i = 0; i < N; i++)
        x[i] += z[i];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            w[i] += alpha * A[j][i] * x[j];
}
