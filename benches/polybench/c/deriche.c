/* Deriche's edge detector: a recursive filter forwards and backwards along each axis of an image */
#include "kernel.h"

enum { M = EXTENT1, N = EXTENT2 };

void kernel_deriche(REAL out[restrict N][M], REAL image[restrict N][M], REAL y1[restrict N][M], REAL y2[restrict N][M],
                    REAL alpha)
{
    const REAL k = (1 - exp(-alpha)) * (1 - exp(-alpha)) / (1 + 2 * alpha * exp(-alpha) - exp(2 * alpha));
    const REAL a1 = k, a5 = k;
    const REAL a2 = k * exp(-alpha) * (alpha - 1), a6 = a2;
    const REAL a3 = k * exp(-alpha) * (alpha + 1), a7 = a3;
    const REAL a4 = -k * exp(-2 * alpha), a8 = a4;
    const REAL b1 = pow((REAL)2, -alpha);
    const REAL b2 = -exp(-2 * alpha);
    for (int j = 0; j < N; j++) {
        REAL ym1 = 0, ym2 = 0, xm1 = 0;
        for (int i = 0; i < M; i++) {
            y1[j][i] = a1 * image[j][i] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = image[j][i];
            ym2 = ym1;
            ym1 = y1[j][i];
        }
    }
    for (int j = 0; j < N; j++) {
        REAL yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
        for (int i = M - 1; i >= 0; i--) {
            y2[j][i] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = image[j][i];
            yp2 = yp1;
            yp1 = y2[j][i];
        }
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            out[j][i] = y1[j][i] + y2[j][i];
    for (int i = 0; i < M; i++) {
        REAL tm1 = 0, ym1 = 0, ym2 = 0;
        for (int j = 0; j < N; j++) {
            y1[j][i] = a5 * out[j][i] + a6 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = out[j][i];
            ym2 = ym1;
            ym1 = y1[j][i];
        }
    }
    for (int i = 0; i < M; i++) {
        REAL tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
        for (int j = N - 1; j >= 0; j--) {
            y2[j][i] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = out[j][i];
            yp2 = yp1;
            yp1 = y2[j][i];
        }
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            out[j][i] = y1[j][i] + y2[j][i];
}
