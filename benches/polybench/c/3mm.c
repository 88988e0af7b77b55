/* G = (A B) (C D), with the two products kept in E and F */
#include "kernel.h"

enum { NI = EXTENT1, NJ = EXTENT2, NK = EXTENT3, NL = EXTENT4, NM = EXTENT5 };

void kernel_3mm(REAL G[restrict NL][NI], REAL E[restrict NJ][NI], REAL F[restrict NL][NJ], REAL A[restrict NK][NI],
                REAL B[restrict NJ][NK], REAL C[restrict NM][NJ], REAL D[restrict NL][NM])
{
    for (int j = 0; j < NJ; j++)
        for (int i = 0; i < NI; i++) {
            E[j][i] = 0;
            for (int k = 0; k < NK; k++)
                E[j][i] += A[k][i] * B[j][k];
        }
    for (int l = 0; l < NL; l++)
        for (int j = 0; j < NJ; j++) {
            F[l][j] = 0;
            for (int m = 0; m < NM; m++)
                F[l][j] += C[m][j] * D[l][m];
        }
    for (int l = 0; l < NL; l++)
        for (int i = 0; i < NI; i++) {
            G[l][i] = 0;
            for (int j = 0; j < NJ; j++)
                G[l][i] += E[j][i] * F[l][j];
        }
}
