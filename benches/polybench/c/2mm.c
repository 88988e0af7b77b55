/* D = alpha A B C + beta D, by way of the product alpha A B */
#include "kernel.h"

enum { NI = EXTENT1, NJ = EXTENT2, NK = EXTENT3, NL = EXTENT4 };

void kernel_2mm(REAL D[restrict NL][NI], REAL AB[restrict NJ][NI], REAL A[restrict NK][NI], REAL B[restrict NJ][NK],
                REAL C[restrict NL][NJ], REAL alpha, REAL beta)
{
    for (int j = 0; j < NJ; j++)
        for (int i = 0; i < NI; i++) {
            AB[j][i] = 0;
            for (int k = 0; k < NK; k++)
                AB[j][i] += alpha * A[k][i] * B[j][k];
        }
    for (int l = 0; l < NL; l++)
        for (int i = 0; i < NI; i++) {
            D[l][i] *= beta;
            for (int j = 0; j < NJ; j++)
                D[l][i] += AB[j][i] * C[l][j];
        }
}
