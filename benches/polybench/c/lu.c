/* A = L U without pivoting, in A's place */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_lu(REAL A[restrict N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[j][i] -= A[k][i] * A[j][k];
            A[j][i] /= A[j][j];
        }
        for (int j = i; j < N; j++)
            for (int k = 0; k < i; k++)
                A[j][i] -= A[k][i] * A[j][k];
    }
}
