/* Maxwell's equations in the plane, in finite differences of time: two electric fields and a magnetic one */
#include "kernel.h"

enum { STEPS = EXTENT1, NX = EXTENT2, NY = EXTENT3 };

void kernel_fdtd2d(REAL ex[restrict NY][NX], REAL ey[restrict NY][NX], REAL hz[restrict NY][NX],
                   REAL source[restrict STEPS])
{
    for (int t = 0; t < STEPS; t++) {
        for (int j = 0; j < NY; j++)
            ey[j][0] = source[t];
        for (int j = 0; j < NY; j++)
            for (int i = 1; i < NX; i++)
                ey[j][i] -= 0.5 * (hz[j][i] - hz[j][i - 1]);
        for (int j = 1; j < NY; j++)
            for (int i = 0; i < NX; i++)
                ex[j][i] -= 0.5 * (hz[j][i] - hz[j - 1][i]);
        for (int j = 0; j < NY - 1; j++)
            for (int i = 0; i < NX - 1; i++)
                hz[j][i] -= 0.7 * (ex[j + 1][i] - ex[j][i] + ey[j][i + 1] - ey[j][i]);
    }
}
