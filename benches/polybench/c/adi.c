/* Heat equation by alternating directions: a tridiagonal solve along each column, then along each row */
#include "kernel.h"

enum { STEPS = EXTENT1, N = EXTENT2 };

void kernel_adi(REAL u[restrict N][N], REAL v[restrict N][N], REAL p[restrict N][N], REAL q[restrict N][N])
{
    const double dx = 1.0 / N, dy = 1.0 / N, dt = 1.0 / STEPS;
    const double mul1 = 2.0 * dt / (dx * dx), mul2 = 1.0 * dt / (dy * dy);
    const double a = -mul1 / 2.0, b = 1.0 + mul1, c = a;
    const double d = -mul2 / 2.0, e = 1.0 + mul2, f = d;
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++) {
            v[i][0] = 1;
            p[0][i] = 0;
            q[0][i] = v[i][0];
            for (int j = 1; j < N - 1; j++) {
                p[j][i] = -c / (a * p[j - 1][i] + b);
                q[j][i] = (-d * u[i - 1][j] + (1.0 + 2.0 * d) * u[i][j] - f * u[i + 1][j] - a * q[j - 1][i]) /
                          (a * p[j - 1][i] + b);
            }
            v[i][N - 1] = 1;
            for (int j = N - 2; j >= 1; j--)
                v[i][j] = p[j][i] * v[i][j + 1] + q[j][i];
        }
        for (int i = 1; i < N - 1; i++) {
            u[0][i] = 1;
            p[0][i] = 0;
            q[0][i] = u[0][i];
            for (int j = 1; j < N - 1; j++) {
                p[j][i] = -f / (d * p[j - 1][i] + e);
                q[j][i] = (-a * v[j][i - 1] + (1.0 + 2.0 * a) * v[j][i] - c * v[j][i + 1] - d * q[j - 1][i]) /
                          (d * p[j - 1][i] + e);
            }
            u[N - 1][i] = 1;
            for (int j = N - 2; j >= 1; j--)
                u[j][i] = p[j][i] * u[j + 1][i] + q[j][i];
        }
    }
}
