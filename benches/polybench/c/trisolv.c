/* L x = b with a lower triangular L */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_trisolv(REAL x[restrict N], REAL L[restrict N][N], REAL b[restrict N])
{
    for (int i = 0; i < N; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[j][i] * x[j];
        x[i] /= L[i][i];
    }
}
