//! Division by complex numbers of `Float64`s, operation by operation as in Julia: halves that are very large or very small
//! are scaled by powers of two, then the larger half of the divisor divides (Baudin and Smith, "A robust complex division
//! in Scilab", 2012).
//!
//! Each helper gives one half, which its last argument chooses; compilers drop the work for the other one.

/// 0.5 * floatmax, floatmin * 2 / eps, 2 / eps^2 and its inverse.
const BOUNDS: &str = "const double large = 0x1.fffffffffffffp+1022, small = 0x1p-969, up = 0x1p+105;";

pub(super) fn quotient(name: &str, inline: &str) -> String {
    format!(
        "\
// p of p + qi = (a + bi) / (c + di) with |d| <= |c|, given r = d / c and t = 1 / (c + d r).
{inline} double {name}_part(double a, double b, double c, double d, double r, double t) {{
    if (r != 0) {{
        const double br = b * r;
        return br != 0 ? (a + br) * t : a * t + (b * t) * r;
    }}
    return (a + d * (b / c)) * t;
}}

// The real or the imaginary half of (a + bi) / (c + di).
{inline} double {name}(double a, double b, double c, double d, int imaginary) {{
    {BOUNDS}
    const double ab = fabs(a) >= fabs(b) ? fabs(a) : fabs(b), cd = fabs(c) >= fabs(d) ? fabs(c) : fabs(d);
    double s = 1.0;
    if (ab >= large) {{ a *= 0.5; b *= 0.5; s *= 2.0; }}
    else if (ab <= small) {{ a *= up; b *= up; s /= up; }}
    if (cd >= large) {{ c *= 0.5; d *= 0.5; s *= 0.5; }}
    else if (cd <= small) {{ c *= up; d *= up; s *= up; }}
    const int kept = fabs(d) <= fabs(c);
    const double x = kept ? a : b, y = kept ? b : a, u = kept ? c : d, v = kept ? d : c;
    const double r = v / u, t = 1.0 / (u + v * r);
    if (!imaginary) return {name}_part(x, y, u, v, r, t) * s;
    const double q = {name}_part(y, -x, u, v, r, t);
    return (kept ? q : -q) * s;
}}"
    )
}

pub(super) fn inverse(name: &str, inline: &str) -> String {
    format!(
        "\
// The real or the imaginary half of 1 / (c + di).
{inline} double {name}(double c, double d, int imaginary) {{
    {BOUNDS}
    if (isinf(c) || isinf(d)) return imaginary ? copysign(0.0, -d) : copysign(0.0, c);
    const double cd = c != c || d != d ? c + d : fabs(c) >= fabs(d) ? fabs(c) : fabs(d);
    double s = 1.0;
    if (cd >= large) {{ c *= 0.5; d *= 0.5; s = 0.5; }}
    if (cd <= small) {{ c *= up; d *= up; s = up; }}
    const int kept = fabs(d) <= fabs(c);
    const double u = kept ? c : d, v = kept ? d : c;
    const double r = v / u, t = 1.0 / (u + v * r);
    if (imaginary) return (kept ? -r * t : -t) * s;
    return (kept ? t : r * t) * s;
}}"
    )
}
