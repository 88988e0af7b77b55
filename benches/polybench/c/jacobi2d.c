/* Jacobi's method on a square grid, five points, two half steps a time step */
#include "kernel.h"

enum { STEPS = EXTENT1, N = EXTENT2 };

void kernel_jacobi2d(REAL A[restrict N][N], REAL B[restrict N][N])
{
    for (int t = 0; t < STEPS; t++) {
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                B[j][i] = 0.2 * (A[j][i] + A[j - 1][i] + A[j + 1][i] + A[j][i + 1] + A[j][i - 1]);
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                A[j][i] = 0.2 * (B[j][i] + B[j - 1][i] + B[j + 1][i] + B[j][i + 1] + B[j][i - 1]);
    }
}
