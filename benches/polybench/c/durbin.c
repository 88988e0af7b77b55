/* The Yule-Walker equations: a symmetric Toeplitz system, by Durbin's recursion */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_durbin(REAL y[restrict N], REAL z[restrict N], REAL r[restrict N])
{
    y[0] = -r[0];
    REAL alpha = -r[0];
    REAL beta = 1;
    for (int k = 1; k < N; k++) {
        beta = (1 - alpha * alpha) * beta;
        REAL total = 0;
        for (int i = 0; i < k; i++)
            total += r[k - i - 1] * y[i];
        alpha = -(r[k] + total) / beta;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
}
