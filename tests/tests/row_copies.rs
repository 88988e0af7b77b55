//! The helpers that copy rows of a tile in vectors, as a GPU of an older generation runs them: run by a CPU.

use std::fs;
use std::process::Command;
use tessella_codegen::c_family::ROW_HELPERS;

/// Rows of all lengths from matrices whose columns begin anywhere, copied whole and up to every element.
const PROGRAM: &str = r#"
template <typename T, int rows> static int wrong(int begins, int column, int there, bool whole)
{
    const int lanes = 16 / sizeof(T), pitch = rows + lanes, columns = 5;
    alignas(16) static T matrix[4096];
    alignas(16) static T tile[columns * pitch];
    for (int at = 0; at < 4096; at++) matrix[at] = (T)(at + 1);
    for (T &it : tile) it = -1;
    for (int y = 0; y < columns; y++) {
        const T *from = matrix + begins + column * y;
        T *to = tile + pitch * y + (begins + column * y) % lanes;
        for (int x = 0; x < rows; x += lanes) {
            if (whole) tessella_copy_around(to + x, from + x);
            else tessella_copy_until(to + x, from + x, (int64_t)there - x);
        }
        if (whole) tessella_copy_last(to + rows - 1, from + rows - 1);
        else tessella_copy_until(to + rows, from + rows, (int64_t)there - rows);
    }
    int wrong = 0;
    for (int y = 0; y < columns; y++) {
        const int shift = (begins + column * y) % lanes;
        for (int x = 0; x < (whole ? rows : there); x++)
            wrong += tile[pitch * y + shift + x] != matrix[begins + column * y + x];
    }
    return wrong;
}

int main()
{
    int all = 0;
    for (int begins = 4; begins < 20; begins++) for (int column = 64; column < 69; column++) {
        all += wrong<float, 64>(begins, column, 64, true) + wrong<double, 32>(begins, column, 32, true);
        all += wrong<int16_t, 32>(begins, column, 32, true);
        for (int there = 0; there <= 32; there++) {
            all += wrong<float, 32>(begins, column, there, false) + wrong<double, 32>(begins, column, there, false);
            all += wrong<int8_t, 32>(begins, column, there, false);
        }
    }
    return all == 0 ? 0 : 1;
}
"#;

const SHIM: &str = "#include <cstdint>\n#define __device__\n#define __forceinline__ inline\n\
    struct uint4 { unsigned x, y, z, w; };\n";

#[test]
fn rows_that_begin_anywhere_arrive_as_they_are() {
    let folder = std::env::temp_dir().join(format!("tessella-rows-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("rows.cpp"), folder.join("rows"));
    fs::write(&source, format!("{SHIM}{ROW_HELPERS}{PROGRAM}")).unwrap();
    let options = ["-std=c++17", "-O1", "-fno-strict-aliasing", "-w", "-o"];
    let Ok(compiled) = Command::new("c++").args(options).arg(&program).arg(&source).output() else {
        println!("skipped: no c++ on the PATH");
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).status().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(run.success(), "rows differ");
}
