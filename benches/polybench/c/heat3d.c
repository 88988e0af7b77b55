/* Heat spreads in a cube: seven points, two half steps a time step */
#include "kernel.h"

enum { STEPS = EXTENT1, N = EXTENT2 };

void kernel_heat3d(REAL A[restrict N][N][N], REAL B[restrict N][N][N])
{
    for (int t = 0; t < STEPS; t++) {
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = 1; i < N - 1; i++)
                    B[k][j][i] = 0.125 * (A[k][j][i + 1] - 2.0 * A[k][j][i] + A[k][j][i - 1]) +
                                 0.125 * (A[k][j + 1][i] - 2.0 * A[k][j][i] + A[k][j - 1][i]) +
                                 0.125 * (A[k + 1][j][i] - 2.0 * A[k][j][i] + A[k - 1][j][i]) + A[k][j][i];
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = 1; i < N - 1; i++)
                    A[k][j][i] = 0.125 * (B[k][j][i + 1] - 2.0 * B[k][j][i] + B[k][j][i - 1]) +
                                 0.125 * (B[k][j + 1][i] - 2.0 * B[k][j][i] + B[k][j - 1][i]) +
                                 0.125 * (B[k + 1][j][i] - 2.0 * B[k][j][i] + B[k - 1][j][i]) + B[k][j][i];
    }
}
