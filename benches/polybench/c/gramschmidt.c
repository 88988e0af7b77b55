/* A = Q R with orthonormal columns of Q, by the modified Gram-Schmidt process */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_gramschmidt(REAL A[restrict N][M], REAL R[restrict N][N], REAL Q[restrict N][M])
{
    for (int k = 0; k < N; k++) {
        REAL norm = 0;
        for (int i = 0; i < M; i++)
            norm += A[k][i] * A[k][i];
        R[k][k] = sqrt(norm);
        for (int i = 0; i < M; i++)
            Q[k][i] = A[k][i] / R[k][k];
        for (int j = k + 1; j < N; j++) {
            R[j][k] = 0;
            for (int i = 0; i < M; i++)
                R[j][k] += Q[k][i] * A[j][i];
            for (int i = 0; i < M; i++)
                A[j][i] -= Q[k][i] * R[j][k];
        }
    }
}
