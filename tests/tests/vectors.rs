//! Kernels whose threads load and store vectors, compiled for the host and run thread by thread: on columns that begin at multiples of
//! 16 bytes and on others, where elements before the first vector are peeled, they give what the source says, and the sanitizer of
//! alignment finds no vector elsewhere.

use std::fs;
use std::process::Command;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_tests::report;

const GRAY: &str = "
@tessella function gray!(gray::Matrix{UInt8}, image::Array{UInt8,3})
    m, n = size(gray)
    for j in 1:n, i in 1:m
        gray[i, j] = (77image[i, j, 1] + 150image[i, j, 2] + 29image[i, j, 3]) >> 8 % UInt8
    end
end
";

const ROWS: &str = "
@tessella function rows!(B::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    for j in 1:n, i in 2:m-1
        B[i, j] = A[i-1, j] + 2 * A[i, j] + 4 * A[i+1, j]
    end
end
";

const SUMS: &str = "
@tessella function sums!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 2:m-1
        B[i, j] = A[i-1, j] + 2 * A[i, j] + 4 * A[i+1, j]
    end
end
";

/// What stands for CUDA around kernels without barriers.
const HOST: &str = "
#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __host__
#define __restrict__
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx, blockDim, gridDim;
#define LAUNCH(columns, rows, lanes, lines, call) \\
    for (unsigned y = 0; y < (unsigned)(rows); y++) for (unsigned x = 0; x < (unsigned)(columns); x++) \\
    for (unsigned v = 0; v < (lines); v++) for (unsigned u = 0; u < (lanes); u++) { blockIdx = {x, y, 0}; threadIdx = {u, v, 0}; call; }
";

const CALL_GRAY: &str = "
int main() {
    int differ = 0;
    for (int m : {1, 15, 16, 17, 48, 127, 128, 129, 513, 1040}) for (int n : {1, 31, 32, 33}) for (int first : {0, 1, 16}) {
        unsigned char *image = (unsigned char *)aligned_alloc(64, (3 * m * n + 127) / 64 * 64) + first;
        unsigned char *gray = (unsigned char *)aligned_alloc(64, (m * n + 127) / 64 * 64) + first;
        for (int i = 0; i < 3 * m * n; i++) image[i] = (unsigned char)(i * 7 + i / 11);
        for (int narrow = 0; narrow < 2; narrow++) {
            memset(gray, 0, m * n);
            if (narrow) LAUNCH((m + 127) / 128, (n + 31) / 32, 8, 32, KERNEL_32(gray, image, m, n, m, n, 3, 0))
            else LAUNCH((m + 127) / 128, (n + 31) / 32, 8, 32, KERNEL(gray, image, m, n, m, n, 3, 0))
            for (int i = 0; i < m * n; i++)
                differ += gray[i] != (unsigned char)((77 * image[i] + 150 * image[i + m * n] + 29 * image[i + 2 * m * n]) >> 8);
        }
    }
    printf(\"%d differ\\n\", differ);
    return differ != 0;
}
";

const CALL_ROWS: &str = "
typedef ELEMENT element;
int main() {
    int differ = 0;
    for (int m : {3, 4, 63, 64, 127, 128, 129, 130, 132, 264}) for (int n : {1, 15, 16, 17}) for (int first : {0, 1, 4}) {
        element *A = (element *)aligned_alloc(64, (m * n + 31) / 16 * 128) + first;
        element *B = (element *)aligned_alloc(64, (m * n + 31) / 16 * 128) + first;
        for (int i = 0; i < m * n; i++) A[i] = (element)(i % 1001);
        for (int narrow = 0; narrow < 2; narrow++) {
            for (int i = 0; i < m * n; i++) B[i] = -1;
            if (narrow) LAUNCH((m + 61) / 64, (n + 15) / 16, 32, 8, KERNEL_32(B, A, m, m, n, 0))
            else LAUNCH((m + 61) / 64, (n + 15) / 16, 32, 8, KERNEL(B, A, m, m, n, 0))
            for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) {
                const element *a = A + i + m * j;
                differ += B[i + m * j] != (i == 0 || i == m - 1 ? -1 : a[-1] + 2 * a[0] + 4 * a[1]);
            }
        }
    }
    printf(\"%d differ\\n\", differ);
    return differ != 0;
}
";

/// The kernels' text of a file's one function, and the name of its kernel.
fn kernel(text: &str) -> (String, String) {
    let options =
        FileOptions { name: "kernel.jl".to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(text, &options).map_err(|_| "refused").unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).map_err(|errors| sources.show(&errors)).unwrap();
    let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors)).unwrap();
    let source = built.cuda(&unit).map_err(|errors| sources.show(&errors)).unwrap();
    let names: Vec<String> = source.kernel_names.iter().filter(|name| !name.ends_with("_32")).cloned().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    (source.kernels, names[0].clone())
}

#[test]
fn vectors_move_what_the_source_says() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no c++ on the PATH");
        return;
    }
    let folder = std::env::temp_dir().join(format!("tessella-vectors-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut failures = vec![];
    for (name, element, text, call) in
        [("gray", "uint8_t", GRAY, CALL_GRAY), ("rows", "float", ROWS, CALL_ROWS), ("sums", "double", SUMS, CALL_ROWS)]
    {
        let (kernels, kernel) = kernel(text);
        for wanted in ["= *(const tessella_vector<", "tessella_load_run<"] {
            assert!(kernels.contains(wanted), "{name} has no {wanted}:\n{kernels}");
        }
        let (source, program) = (folder.join(format!("{name}.cpp")), folder.join(name));
        let defined = format!("#define ELEMENT {element}\n#define KERNEL {kernel}\n#define KERNEL_32 {kernel}_32\n");
        // The types of fixed width are those of the C library there.
        let kernels: Vec<&str> = kernels.lines().filter(|line| !line.starts_with("typedef ")).collect();
        fs::write(&source, format!("#include <stdint.h>\n{HOST}{}\n{defined}{call}", kernels.join("\n"))).unwrap();
        let sanitized = ["-fsanitize=alignment,bounds", "-fno-sanitize-recover=all"];
        let compile = |flags: &[&str]| {
            let mut compiler = Command::new("c++");
            compiler.args(["-O1", "-w", "-ffp-contract=off", "-o"]).arg(&program).arg(&source).args(flags);
            compiler.output().unwrap()
        };
        let compiled = compile(&sanitized);
        // The sanitizer's library may be missing.
        let compiled = if compiled.status.success() { compiled } else { compile(&[]) };
        if !compiled.status.success() {
            failures.push(format!("{name}: {}", String::from_utf8_lossy(&compiled.stderr)));
            continue;
        }
        let run = Command::new(&program).output().unwrap();
        if !run.status.success() {
            let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
            failures.push(format!("{name}: {out}{err}"));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    report(failures);
}
