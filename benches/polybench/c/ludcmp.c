/* A x = b: A = L U without pivoting, then L y = b and U x = y */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_ludcmp(REAL A[restrict N][N], REAL b[restrict N], REAL x[restrict N], REAL y[restrict N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            REAL w = A[j][i];
            for (int k = 0; k < j; k++)
                w -= A[k][i] * A[j][k];
            A[j][i] = w / A[j][j];
        }
        for (int j = i; j < N; j++) {
            REAL w = A[j][i];
            for (int k = 0; k < i; k++)
                w -= A[k][i] * A[j][k];
            A[j][i] = w;
        }
    }
    for (int i = 0; i < N; i++) {
        REAL w = b[i];
        for (int j = 0; j < i; j++)
            w -= A[j][i] * y[j];
        y[i] = w;
    }
    for (int i = N - 1; i >= 0; i--) {
        REAL w = y[i];
        for (int j = i + 1; j < N; j++)
            w -= A[j][i] * x[j];
        x[i] = w / A[i][i];
    }
}
