//! Copies to shared memory that go on while the threads compute, in CUDA.

use super::expr::Instance;
use super::helpers::Helper;
use super::{Printer, Writer};
use crate::ahead::{RowCopy, Run};
use crate::int_expr::Cond;
use crate::int_text::{Spelling, int_text};
use tessella_polyhedral::algorithm::ArrayId;

/// What kernels with such copies use. GPUs before compute capability 8.0 copy at once, and have nothing to wait for; so do
/// elements of one or two bytes everywhere.
pub const AHEAD_HELPERS: &str = "\
// Begins to copy an element to shared memory. What it misses comes to the L2 cache with the 256 bytes around it, for copies of
// rows that begin inside of them.
template <typename T>
static __device__ __forceinline__ void tessella_copy_ahead(T *to, const T *from)
{
#if __CUDA_ARCH__ >= 800
    if (sizeof(T) == 4 || sizeof(T) == 8) {
        asm volatile(\"cp.async.ca.shared.global.L2::256B [%0], [%1], %2;\" ::
            \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"n\"(sizeof(T) == 8 ? 8 : 4) : \"memory\");
        return;
    }
#endif
    *to = *from;
}

// Waits for what the thread began to copy, but not for what it began since the last `later` waits.
template <int later>
static __device__ __forceinline__ void tessella_await()
{
#if __CUDA_ARCH__ >= 800
    asm volatile(\"cp.async.commit_group;\\n\\tcp.async.wait_group %0;\" :: \"n\"(later) : \"memory\");
#endif
}
";

/// What kernels use besides that copy whole rows.
pub const ROW_HELPERS: &str = "\
// Begins to copy the 16 bytes around an element to those around its place in shared memory, where it lies as far behind a multiple
// of 16 bytes.
template <typename T>
static __device__ __forceinline__ void tessella_copy_around(T *to, const T *from)
{
    const unsigned behind = (unsigned)(uint64_t)from % 16;
#if __CUDA_ARCH__ >= 800
    asm volatile(\"cp.async.cg.shared.global.L2::256B [%0], [%1], 16;\" ::
        \"r\"((unsigned)__cvta_generic_to_shared(to) - behind), \"l\"((uint64_t)from - behind) : \"memory\");
#else
    *(uint4 *)((char *)to - behind) = *(const uint4 *)((const char *)from - behind);
#endif
}

// Begins to copy so many bytes of them alone, at most 16; none if that is not positive. What is around the others need not be there. No
// branch keeps the compiler from computing the next addresses meanwhile.
template <typename T>
static __device__ __forceinline__ void tessella_copy_first(T *to, const T *from, unsigned behind, int bytes)
{
    bytes = bytes < 16 ? bytes : 16;
#if __CUDA_ARCH__ >= 800
    asm volatile(\"{\\n\\t.reg .pred some;\\n\\tsetp.gt.s32 some, %2, 0;\\n\\t\"
        \"@some cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;\\n\\t}\" ::
        \"r\"((unsigned)__cvta_generic_to_shared(to) - behind), \"l\"((uint64_t)from - behind), \"r\"(bytes) : \"memory\");
#else
    const int elements = (int)(behind / sizeof(T));
    for (int at = 0; at < bytes / (int)sizeof(T); at++) to[at - elements] = from[at - elements];
#endif
}

// The elements around the last one of a row and before it, where that one does not end 16 bytes: others copy those.
template <typename T>
static __device__ __forceinline__ void tessella_copy_last(T *to, const T *from)
{
    const unsigned behind = (unsigned)(uint64_t)from % 16;
    tessella_copy_first(to, from, behind, (int)((behind + sizeof(T)) % 16));
}

// The elements around an element that are among the `left` from it on, or before it.
template <typename T>
static __device__ __forceinline__ void tessella_copy_until(T *to, const T *from, int64_t left)
{
    const unsigned behind = (unsigned)(uint64_t)from % 16;
    const int near = left < -16 ? -16 : left < 16 ? (int)left : 16;
    tessella_copy_first(to, from, behind, (int)behind + near * (int)sizeof(T));
}
";

impl Printer<'_> {
    /// The threads of a block copy the rows of a tile, `alone` in the text's block or not.
    pub(super) fn copy_rows(&mut self, it: &RowCopy, alone: bool, out: &mut Writer) {
        if !alone {
            out.open("");
        }
        let asks = !it.conditions.is_empty();
        if asks {
            let all = self.cond(&Cond::all_of(it.conditions.iter().cloned()));
            out.open(format!("if ({all})"));
        }
        self.origin(it.copy, out);
        let thread = self.thread_of_block();
        let name = |run: &Run, printer: &Self| printer.program.names.variables[run.variable.0 as usize].clone();
        let (x, y) = (name(&it.along, self), name(&it.across, self));
        let (lanes, vectors, rows) = (it.lanes, it.along.count / it.lanes, it.across.count);
        let threads = i64::from(self.threads_of_block.iter().product::<u32>());
        let t = self.width.c_type();
        let turn = self.program.names.namer().pick("turn");
        // Every turn, each thread copies a vector: of the same column of the tile, of the same row, or the next ones in order.
        let (by_row, by_column) = (threads % vectors == 0, vectors % threads == 0);
        let (x_at, y_at) = match (by_row, by_column) {
            (true, _) => {
                let further = times(threads / vectors, &turn);
                (format!("{lanes} * ({thread} % {vectors})"), format!("{thread} / {vectors} + {further}"))
            }
            (false, true) => {
                let (each, further) = (vectors / threads, times(threads, &format!("({turn} % {})", vectors / threads)));
                (format!("{lanes} * ({thread} + {further})"), format!("{turn} / {each}"))
            }
            (false, false) => {
                let vector = format!("({thread} + {threads} * {turn})");
                (format!("{lanes} * ({vector} % {vectors})"), format!("{vector} / {vectors}"))
            }
        };
        let all = rows * vectors;
        let turns = all / threads + i64::from(all % threads != 0);
        // What of the tile is there.
        let mut end = |run: &Run, wanted: &str| {
            let last = run.last.as_ref()?;
            let (name, last) = (self.program.names.namer().pick(wanted), self.int(last));
            out.line(format!("const {t} {name} = {last};"));
            Some(name)
        };
        let (last_row, last_column) = (end(&it.along, "last_row"), end(&it.across, "last_column"));
        let guard = |is_needed: bool| match is_needed && last_column.is_none() {
            true => format!("if ({y} < {rows}) "),
            false => String::new(),
        };
        // Where a column is not there, nothing is left of its rows. A choice of two numbers would become a branch.
        let (of_row, of_column) = (
            last_row.as_ref().map(|last| format!("{last} + 1 - {x}")),
            last_column.as_ref().map(|last| format!("16 + 32 * ({last} - {y})")),
        );
        let left = match (of_row, of_column) {
            (Some(row), Some(column)) => {
                self.helpers.insert(Helper::IndexMin(self.width));
                format!("{}({row}, {column})", Helper::IndexMin(self.width).name())
            }
            (one, other) => one.or(other).unwrap_or_default(),
        };
        out.line("#pragma unroll");
        out.open(format!("for (uint32_t {turn} = 0; {turn} < {turns}; {turn}++)"));
        out.line(format!("const {t} {x} = {x_at}, {y} = {y_at};"));
        let (to, from) = self.row_call(it);
        let guard_of_all = guard(all % threads != 0);
        out.line(match left.as_str() {
            "" => format!("{guard_of_all}tessella_copy_around(&{to}, &{from});"),
            left => format!("{guard_of_all}tessella_copy_until(&{to}, &{from}, {left});"),
        });
        out.close();
        // Shifted rows end in one vector more.
        let turns = rows / threads + i64::from(rows % threads != 0);
        let is_whole = left.is_empty();
        let behind = if last_row.is_some() { it.along.count } else { it.along.count - 1 };
        if turns == 1 {
            out.open("");
            out.line(format!("const {t} {x} = {behind}, {y} = {thread};"));
        } else {
            out.line("#pragma unroll");
            out.open(format!("for (uint32_t {turn} = 0; {turn} < {turns}; {turn}++)"));
            out.line(format!("const {t} {x} = {behind}, {y} = {thread} + {};", times(threads, &turn)));
        }
        let guard_of_rows = guard(rows % threads != 0);
        out.line(match (is_whole, &last_row, &last_column) {
            (false, Some(_), _) => format!("{guard_of_rows}tessella_copy_until(&{to}, &{from}, {left});"),
            (false, None, Some(column)) => format!("if ({y} <= {column}) tessella_copy_last(&{to}, &{from});"),
            (true, ..) | (_, None, None) => format!("{guard_of_rows}tessella_copy_last(&{to}, &{from});"),
        });
        out.close();
        if asks {
            out.close();
        }
        if !alone {
            out.close();
        }
    }

    /// An element's place in the tile and in the matrix.
    fn row_call(&mut self, it: &RowCopy) -> (String, String) {
        let computation = self.input.algorithm.computation(it.copy);
        let at = Instance { computation: it.copy, iterators: &it.iterators };
        (self.element(&computation.write, &at).0, self.value(&computation.value, &at).0)
    }

    /// The number of a thread in its block.
    fn thread_of_block(&self) -> String {
        let [x, y, z] = self.threads_of_block;
        let inner = match (y, z) {
            (1, 1) => return "threadIdx.x".to_string(),
            (y, 1) if y > 1 => "threadIdx.y".to_string(),
            (y, _) => format!("(threadIdx.y + {y} * threadIdx.z)"),
        };
        format!("(threadIdx.x + {x} * {inner})")
    }

    /// By how much the rows of an array are shifted, as a macro of a row's number with a formal name: its name and its definition.
    pub(super) fn row_shift(&mut self, array: ArrayId, formal: &str) -> Option<(String, String)> {
        let lead = self.input.layout.lead_of(array)?;
        let name = self.shift_name(array);
        let matrix = self.program.names.buffers[lead.of.0 as usize].clone();
        let bytes = self.input.algorithm.array(array).element.bytes();
        let column = self.input.extent(&lead.column);
        self.note_helpers(&column);
        // One macro serves kernels that count in 32 bits and in 64.
        let column = int_text(&column, &self.program.names, Spelling::C).0;
        let lanes = lead.lanes;
        let more = |number: i64| match number.rem_euclid(lanes) {
            0 => String::new(),
            more => format!(" + {more}"),
        };
        let (first, row) = (more(lead.first), more(lead.row));
        // Of unrolled loops over rows, every so many have the same shift: the compiler sees it by the row's remainder.
        let row = match row.is_empty() {
            true => format!("((uint32_t)({formal}) % {lanes})"),
            false => format!("(((uint32_t)({formal}){row}) % {lanes})"),
        };
        let begins = format!("(uint32_t)((uint64_t){matrix} / {bytes})");
        let place = format!("({begins} + (uint32_t)({column}) * {row}{first}) % {lanes}");
        Some((name.clone(), format!("#define {name}({formal}) ({place})")))
    }

    /// What that macro is called.
    pub fn shift_name(&self, array: ArrayId) -> String {
        let names = &self.program.names;
        names.namer().pick(&format!("{}_shift", names.arrays[array.0 as usize]))
    }

    /// The macros of shifts that the printed text uses.
    pub fn shifts(&self) -> Vec<String> {
        let shifted = self.macros.iter().filter(|&&array| self.input.layout.lead_of(array).is_some());
        shifted.map(|&array| self.shift_name(array)).collect()
    }
}

/// A product with a number.
fn times(factor: i64, of: &str) -> String {
    if factor == 1 { of.to_string() } else { format!("{factor} * {of}") }
}
