/* A[:, q, r] = C' A[:, q, r] for every q and r (multiresolution analysis, MADNESS) */
#include "kernel.h"

enum { NR = EXTENT1, NQ = EXTENT2, NP = EXTENT3 };

void kernel_doitgen(REAL A[restrict NR][NQ][NP], REAL C[restrict NP][NP], REAL row[restrict NP])
{
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                row[p] = 0;
                for (int s = 0; s < NP; s++)
                    row[p] += A[r][q][s] * C[p][s];
            }
            for (int p = 0; p < NP; p++)
                A[r][q][p] = row[p];
        }
}
