/* Jacobi's method on a line, three points, two half steps a time step */
#include "kernel.h"

enum { STEPS = EXTENT1, N = EXTENT2 };

void kernel_jacobi1d(REAL A[restrict N], REAL B[restrict N])
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < N - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}
