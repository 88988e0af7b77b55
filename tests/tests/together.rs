//! Files of several functions: one text that a compiler takes.

use std::fs;
use std::process::Command;
use tessella::file::{FileOptions, ScheduleSource, transpile};
use tessella::request::{Backend, TextKind};
use tessella_tests::{golden, report, root};

/// What `cuda_runtime.h` and the language have that the texts below use, for a compiler of C++ that only looks at them.
const CUDA: &str = r#"
#include <cstddef>
#include <cstdint>
#include <cstring>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
static dim3 threadIdx, blockIdx, blockDim, gridDim;
struct int4 { int x, y, z, w; };
struct uint4 { unsigned x, y, z, w; };
struct int2 { int x, y; };
struct longlong2 { long long x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
void __syncthreads();
template <typename T> T __shfl_down_sync(unsigned, T, int);
template <typename T> T atomicAdd(T *, T);
double __longlong_as_double(long long);
size_t __cvta_generic_to_shared(const void *);
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
template <typename T> cudaError_t cudaMemcpyToSymbol(T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
cudaError_t cudaGetLastError();
cudaError_t cudaDeviceSynchronize();
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaExtent { size_t width, height, depth; };
struct cudaMemcpy3DParms { cudaPitchedPtr srcPtr, dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
cudaPitchedPtr make_cudaPitchedPtr(void *, size_t, size_t, size_t);
cudaExtent make_cudaExtent(size_t, size_t, size_t);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *);
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes { size_t sharedSizeBytes; };
cudaError_t cudaGetDevice(int *);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
"#;

fn printed(file: &str, backend: Backend, kind: TextKind) -> String {
    let text = fs::read_to_string(root().join("tests/together").join(file)).unwrap();
    let options = FileOptions { name: file.into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    transpile(&text, &options, backend, kind).unwrap_or_else(|refused| panic!("{refused}"))
}

/// Without the sizes of launches, which C++ does not have.
fn as_calls(text: &str) -> String {
    let mut calls = String::new();
    let mut rest = text;
    while let Some((before, launch)) = rest.split_once("<<<") {
        calls.push_str(before);
        rest = launch.split_once(">>>").expect("a launch has an end").1;
    }
    calls + rest
}

/// Lets a compiler look at a text; what it says if it does not take it.
fn looked_at(text: &str, name: &str, compiler: &str, options: &[&str]) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("tessella-together-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join(name);
    fs::write(&source, text).unwrap();
    let found = Command::new(compiler).args(options).arg("-fsyntax-only").arg(&source).output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    (!found.status.success()).then(|| String::from_utf8_lossy(&found.stderr).into_owned())
}

#[test]
fn two_functions_read_as_recorded() {
    let folder = root().join("tests/together");
    let texts = [(Backend::C, TextKind::C, "c"), (Backend::Cuda, TextKind::Cuda, "cu")];
    let wrong = texts.map(|(backend, kind, extension)| {
        golden(&folder.join(format!("two.{extension}")), &printed("two.jl", backend, kind)).err()
    });
    report(wrong.into_iter().flatten().collect());
}

#[test]
fn a_c_compiler_takes_several_functions() {
    let text = printed("several.jl", Backend::C, TextKind::C);
    let said = looked_at(&text, "several.c", "cc", &["-std=gnu11", "-fopenmp", "-Wall", "-Werror"]);
    assert_eq!(said, None);
}

#[test]
fn functions_may_be_called_as_those_of_the_c_library_are() {
    let names = [
        "expl!",
        "logl!",
        "powl!",
        "sinl!",
        "tanl!",
        "hypotl!",
        "fmal!",
        "logbl!",
        "gammaf!",
        "y0f!",
        "acosf32x!",
        "strtoull!",
    ];
    let text: String = names
        .iter()
        .map(|name| format!("function {name}(x::Vector{{Float64}})\n    for i in eachindex(x)\n        x[i] = exp(2x[i])\n    end\nend\n"))
        .collect();
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let printed = transpile(&text, &options, Backend::C, TextKind::C).unwrap();
    let headers = "#define _GNU_SOURCE\n#include <complex.h>\n#include <stdlib.h>\n#include <string.h>\n";
    let said =
        looked_at(&format!("{headers}{printed}"), "names.c", "cc", &["-std=gnu11", "-fopenmp", "-Wall", "-Werror"]);
    assert_eq!(said, None);
}

#[test]
fn a_compiler_takes_several_functions_in_cuda() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no c++ on the PATH");
        return;
    }
    let text = printed("several.jl", Backend::Cuda, TextKind::Cuda);
    let text = as_calls(&text.replace("#include <cuda_runtime.h>", CUDA));
    assert_eq!(looked_at(&text, "several.cpp", "c++", &["-std=c++17", "-w"]), None);
}

#[test]
fn a_file_is_fast_where_all_of_its_functions_are() {
    let fast = |name: &str| {
        format!(
            "function {name}(A::Vector{{Float32}})\n    @fastmath for i in eachindex(A)\n        A[i] = 2A[i] + 1f0\n    end\nend\n"
        )
    };
    let exact = fast("h!").replace("@fastmath ", "");
    let flags = |text: &str| {
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let text = transpile(text, &options, Backend::Cuda, TextKind::Cuda).unwrap();
        let all: Vec<_> = text
            .lines()
            .filter_map(|line| Some(line.strip_prefix("// nvcc ")?.split(':').next()?.to_string()))
            .collect();
        all
    };
    assert_eq!(flags(&(fast("f!") + &fast("g!"))), ["-fmad=true"]);
    assert_eq!(flags(&(fast("f!") + &exact)), ["-fmad=false"]);
}
