/* C = alpha A B + beta C */
#include "kernel.h"

enum { NI = EXTENT1, NJ = EXTENT2, NK = EXTENT3 };

void kernel_gemm(REAL C[restrict NJ][NI], REAL A[restrict NK][NI], REAL B[restrict NJ][NK], REAL alpha, REAL beta)
{
    for (int j = 0; j < NJ; j++) {
        for (int i = 0; i < NI; i++)
            C[j][i] *= beta;
        for (int k = 0; k < NK; k++)
            for (int i = 0; i < NI; i++)
                C[j][i] += alpha * A[k][i] * B[j][k];
    }
}
