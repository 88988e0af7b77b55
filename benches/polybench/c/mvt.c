/* x1 = x1 + A y1 and x2 = x2 + A' y2 */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_mvt(REAL x1[restrict N], REAL x2[restrict N], REAL y1[restrict N], REAL y2[restrict N],
                REAL A[restrict N][N])
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            x1[i] += A[j][i] * y1[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x2[i] += A[i][j] * y2[j];
}
