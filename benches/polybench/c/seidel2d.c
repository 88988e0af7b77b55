/* Gauss and Seidel's method on a square grid, nine points */
#include "kernel.h"

enum { STEPS = EXTENT1, N = EXTENT2 };

void kernel_seidel2d(REAL A[restrict N][N])
{
    for (int t = 0; t < STEPS; t++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                A[j][i] = (A[j - 1][i - 1] + A[j - 1][i] + A[j - 1][i + 1] + A[j][i - 1] + A[j][i] + A[j][i + 1] +
                           A[j + 1][i - 1] + A[j + 1][i] + A[j + 1][i + 1]) / 9.0;
}
