/* s = A' r and q = A p, in one sweep over A */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_bicg(REAL s[restrict M], REAL q[restrict N], REAL A[restrict M][N], REAL p[restrict M], REAL r[restrict N])
{
    for (int i = 0; i < N; i++)
        q[i] = 0;
    for (int j = 0; j < M; j++) {
        s[j] = 0;
        for (int i = 0; i < N; i++) {
            s[j] += r[i] * A[j][i];
            q[i] += A[j][i] * p[j];
        }
    }
}
