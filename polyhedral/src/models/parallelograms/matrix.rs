//! Small integer matrices, exactly. Arithmetic that passes 128 bits gives `None`.

/// A square matrix of integers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Matrix {
    pub rows: Vec<Vec<i64>>,
}

/// `numerators / denominator`, the denominator positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverse {
    pub numerators: Vec<Vec<i128>>,
    pub denominator: i128,
}

/// A fraction in lowest terms, the denominator positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rational {
    pub numerator: i128,
    pub denominator: i128,
}

impl Rational {
    pub fn new(numerator: i128, denominator: i128) -> Option<Rational> {
        let divisor = gcd(numerator, denominator);
        if denominator == 0 || divisor == 0 {
            return None;
        }
        let sign = denominator.signum();
        Some(Rational { numerator: sign * numerator / divisor, denominator: sign * denominator / divisor })
    }

    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// `None` where the comparison passes 128 bits.
    pub fn is_less(self, other: Rational) -> Option<bool> {
        Some(self.numerator.checked_mul(other.denominator)? < other.numerator.checked_mul(self.denominator)?)
    }
}

impl std::fmt::Display for Rational {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{:.2}", self.to_f64()),
        }
    }
}

impl Matrix {
    /// As many rows as columns.
    pub fn new(rows: &[&[i64]]) -> Matrix {
        Matrix { rows: rows.iter().map(|row| row.to_vec()).collect() }
    }

    /// A cube.
    pub fn diagonal(size: usize, side: i64) -> Matrix {
        Matrix { rows: (0..size).map(|row| (0..size).map(|at| if at == row { side } else { 0 }).collect()).collect() }
    }

    /// The number of rows, 0 if it is not square.
    pub fn size(&self) -> usize {
        if self.rows.iter().all(|row| row.len() == self.rows.len()) { self.rows.len() } else { 0 }
    }

    pub fn determinant(&self) -> Option<i128> {
        determinant(&self.rows.iter().map(|row| row.iter().map(|&it| i128::from(it)).collect()).collect::<Vec<_>>())
    }

    /// `None` for a matrix without one.
    pub fn inverse(&self) -> Option<Inverse> {
        let size = self.size();
        let determinant = self.determinant().filter(|&it| it != 0 && size > 0)?;
        let mut numerators = vec![vec![0; size]; size];
        for (row, numerators) in numerators.iter_mut().enumerate() {
            for (column, place) in numerators.iter_mut().enumerate() {
                // The cofactor of the transposed place.
                let minor: Vec<Vec<i128>> = (0..size)
                    .filter(|&it| it != column)
                    .map(|from| (0..size).filter(|&it| it != row).map(|at| i128::from(self.rows[from][at])).collect())
                    .collect();
                let sign = if (row + column) % 2 == 0 { 1 } else { -1 };
                *place = sign * determinant_of_minor(&minor)?;
            }
        }
        Inverse { numerators, denominator: determinant }.lowest()
    }
}

impl Inverse {
    /// `matrix` times this.
    pub fn after(&self, matrix: &Matrix) -> Option<Inverse> {
        let size = self.numerators.len();
        let mut numerators = vec![vec![0_i128; size]; size];
        for (row, numerators) in numerators.iter_mut().enumerate() {
            for (column, place) in numerators.iter_mut().enumerate() {
                for at in 0..size {
                    let product = i128::from(matrix.rows[row][at]).checked_mul(self.numerators[at][column])?;
                    *place = place.checked_add(product)?;
                }
            }
        }
        Inverse { numerators, denominator: self.denominator }.lowest()
    }

    /// The numerators of `vector` times this.
    pub fn coordinates(&self, vector: &[i64]) -> Option<Vec<i128>> {
        let column = |at: usize| {
            let mut products = vector.iter().zip(&self.numerators);
            products.try_fold(0_i128, |sum, (&factor, row)| sum.checked_add(row[at].checked_mul(i128::from(factor))?))
        };
        (0..self.numerators.len()).map(column).collect()
    }

    fn lowest(self) -> Option<Inverse> {
        let divisor = self.numerators.iter().flatten().fold(self.denominator, |divisor, &it| gcd(divisor, it));
        let divisor = divisor * self.denominator.signum();
        let numerators = self.numerators.iter().map(|row| row.iter().map(|it| it / divisor).collect()).collect();
        Some(Inverse { numerators, denominator: self.denominator / divisor })
    }
}

fn determinant_of_minor(rows: &[Vec<i128>]) -> Option<i128> {
    if rows.is_empty() { Some(1) } else { determinant(rows) }
}

/// By the first row; matrices are small.
pub(super) fn determinant(rows: &[Vec<i128>]) -> Option<i128> {
    match rows {
        [] => None,
        [row] => row.first().copied(),
        [a, b] if a.len() == 2 && b.len() == 2 => a[0].checked_mul(b[1])?.checked_sub(a[1].checked_mul(b[0])?),
        [a, b, c] if [a, b, c].iter().all(|row| row.len() == 3) => {
            let minor = |p: usize, q: usize| b[p].checked_mul(c[q])?.checked_sub(b[q].checked_mul(c[p])?);
            let (x, y, z) =
                (a[0].checked_mul(minor(1, 2)?)?, a[1].checked_mul(minor(0, 2)?)?, a[2].checked_mul(minor(0, 1)?)?);
            x.checked_sub(y)?.checked_add(z)
        }
        [first, rest @ ..] => {
            let mut sum = 0_i128;
            for (at, &factor) in first.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                let without = |row: &Vec<i128>| -> Vec<i128> {
                    row.iter().enumerate().filter(|(column, _)| *column != at).map(|(_, &it)| it).collect()
                };
                let minor = determinant(&rest.iter().map(without).collect::<Vec<_>>())?;
                let sign = if at % 2 == 0 { 1 } else { -1 };
                sum = sum.checked_add(factor.checked_mul(minor)?.checked_mul(sign)?)?;
            }
            Some(sum)
        }
    }
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
