/* A = L L' for a symmetric positive definite A; L takes the place of A's lower triangle */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_cholesky(REAL A[restrict N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[j][i] -= A[k][i] * A[k][j];
            A[j][i] /= A[j][j];
        }
        for (int k = 0; k < i; k++)
            A[i][i] -= A[k][i] * A[k][i];
        A[i][i] = sqrt(A[i][i]);
    }
}
