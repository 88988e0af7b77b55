/* The C interface of libtessella: Julia source in, compiled code out.
 *
 *     tessella_program *p = tessella_compile(request);
 *     if (tessella_status(p) != 0) fputs(tessella_text(p, "diagnostics"), stderr);
 *     int32_t (*heat2d)(float *, int64_t, int64_t, float *, int64_t, int64_t, int64_t) = tessella_entry(p);
 *     int32_t code = heat2d(A, m, n, B, m, n, steps);
 *     if (code != 0) fputs(tessella_failure(p, code), stderr);
 *     tessella_release(p);
 *
 * No function unwinds or ends the process. Every function may be called from any thread; a program may be used by
 * several threads at once. All text is UTF-8.
 */
#ifndef TESSELLA_H
#define TESSELLA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tessella_abi_version returns for this header. It grows when anything below changes its meaning. */
#define TESSELLA_ABI_VERSION 5u

/* tessella_status */
#define TESSELLA_OK 0
#define TESSELLA_REFUSED 1    /* the program or its schedule; the diagnostics say why */
#define TESSELLA_TOOL_CHAIN 2 /* the C compiler, NVRTC or the GPU failed or is missing */
#define TESSELLA_INTERNAL 3   /* a mistake of Tessella's own */

/* What a compiled entry returns: 0, or a positive number k (entry check k is violated, nothing was written), or: */
#define TESSELLA_OVERLAP (-1)       /* two arrays, or two elements of a written one, share memory; nothing was written */
#define TESSELLA_OUT_OF_MEMORY (-2) /* nothing was written */
#define TESSELLA_RANGE (-3)         /* a size or integer argument is too large; nothing was written */
#define TESSELLA_CUDA (-4)          /* the GPU failed, at the latest while results were copied back */
#define TESSELLA_GRID (-5)          /* the sizes need more thread blocks than a GPU runs; nothing was written */
#define TESSELLA_LATER (-6)         /* a subscript or value failed in the run; what was written has been put back */

typedef struct tessella_program tessella_program;

uint32_t tessella_abi_version(void);

/* Compiles a function. Never returns NULL; the caller releases the program.
 *
 * The request is a JSON object:
 *
 *     "source"      text of the function's definition
 *     "file"        what diagnostics call the text
 *     "first_line"  the line of that file which the text begins at (default 1)
 *     "function"    name of the function
 *     "types"       types of its arguments as Julia writes them, keyword arguments last:
 *                   ["Array{Float32,2}", "Int64"]. "StridedArray{T,N}" is an array whose strides are given at each
 *                   call, "StridedArray{T,N,1}" one whose stride along axis 1 is 1; "OffsetArray{T,N}" has first
 *                   indices that are given at each call, over contiguous memory, "OffsetArray{T,N,A}" over an A
 *     "schedule"    null, or {"source": "...", "file": "...", "first_line": 1}
 *     "helpers"     other functions of the user that it may call: [{"source": "...", "file": "...", "first_line": 1}]
 *     "constants"   constants that they use: [{"name": "N", "type": "Int64", "value": "3"}]; the value is the number's
 *                   bits as a decimal number, with type "Type" the name of a type, or with type "Tuple" a tuple of
 *                   numbers, "Int64:1 Int64:2"
 *     "target"      "c", "cuda" or "interpreter"
 *     "emit"        texts that are wanted: "algorithm", "dependences", "schedule", "loops", "c",
 *                   "header", "cuda", "explain", "draw" (SVG)
 *     "load"        whether the program is to be run; false makes texts only
 *     "options"     {"threads": null or a number, "overlap": "error" or "original", "chunked": false or true}; with
 *                   "chunked" a program of target "cuda" runs in slices where the GPU's memory does not hold its arrays
 *     "draw"        what "draw" shows, all of it optional: {"computation": "S", "dims": ["i", "j"], "sizes": {"n": 8},
 *                   "fix": {"k": 1}, "scheduled": false, "order": "auto", "numbers", "line" or "none"}
 *     "class"       null, or the class of the sizes that the program is for: without a schedule, what a tuner found for it
 *                   is taken. One number for each extent of an array and each integer argument, in their order: 0 for
 *                   sizes below 1, 1 for 1, 2 for 2, 3 for up to 4, 4 for up to 8, and so on
 */
tessella_program *tessella_compile(const char *request);

/* One of the values above. */
int32_t tessella_status(const tessella_program *program);

/* A text, which lives as long as the program; NULL if there is none of that name. Beside what "emit" asked for:
 *
 *     "diagnostics"  errors and warnings, rendered; NULL if there are none
 *     "codes"        their codes, separated by blanks: "E0302 E0303"
 *     "result"       what the function gives back: "nothing", "argument 0" (positions from 0), "argument of 0 1" (one of
 *                    these, whose position is written like a scalar Int64), "scalar Float64", "array Float64 2" (a new
 *                    array of two axes), or a tuple of such parts, "(array Float64 2, scalar Int64, argument 0)", in
 *                    which "again 0" is what place 0 received; "oneof(scalar Int64, nothing, array Float64 1)" is one of
 *                    several parts, whose number, from 0, is what the first place received (arrays of the others have
 *                    places and extents, too, and are not written)
 *     "tuned"        what a tuner found for the function, where the request gave neither schedule nor class: for each class
 *                    a line with its numbers, and below it the schedule's lines, each behind four blanks
 */
const char *tessella_text(const tessella_program *program, const char *name);

/* The address of the compiled function (target "c"), which lives as long as the program; NULL if there is none.
 *
 *     int32_t entry(...)
 *
 * takes for each argument of the Julia function in order: for an array the pointer to its first element, then one int64_t
 * for each axis, its extent, then one for each stride that is not known from the type (the distance to the next element
 * along the axis in elements, negative or zero too), then one for each axis of an OffsetArray, its first index; for a
 * scalar its value, a Bool as uint8_t. The first element is the one whose subscripts are the first ones. Then, for each
 * scalar and each new array that it gives back, a place: a pointer to memory for it, apart from the arguments. And last,
 * if there are such arrays, an int64_t pointer for their extents, all in the order of the places: if it is not NULL, the
 * checks are made, the extents are written, and nothing else is done. So such an entry is called twice, the second time
 * with memory of that size and NULL.
 */
void *tessella_entry(const tessella_program *program);

/* Runs the program, whatever its target; arguments[k] points to the value of the entry's parameter k. Returns what the
 * entry returns; TESSELLA_CUDA also when the program was not loaded. */
int32_t tessella_launch(const tessella_program *program, void **arguments);

/* The same where some arrays are in the memory of the first GPU already: on_device[k] is not 0 where parameter k is the
 * address of such an array. They are used where they are, and nothing is copied to or from them; whatever was to be done
 * with them before must be done. For programs of target "cuda"; others return TESSELLA_CUDA if there is such an array.
 */
int32_t tessella_launch_mixed(const tessella_program *program, void **arguments, const uint8_t *on_device);

/* Memory of the first GPU that stays there between calls. Allocating returns NULL where it fails; the functions that return
 * a number return 0, or -1 where they fail; tessella_memory_failure then tells why, rendered, to the same thread, until
 * its next call. Copies are complete when they return. Offsets and sizes are in bytes.
 */
typedef struct tessella_memory tessella_memory;

tessella_memory *tessella_memory_allocate(uint64_t bytes);
void tessella_memory_free(tessella_memory *memory);
uint64_t tessella_memory_address(const tessella_memory *memory);
int32_t tessella_memory_write(const tessella_memory *memory, uint64_t offset, const void *from, uint64_t bytes);
int32_t tessella_memory_read(const tessella_memory *memory, uint64_t offset, void *to, uint64_t bytes);
int32_t tessella_memory_copy(const tessella_memory *to, const tessella_memory *from, uint64_t bytes);
/* The bytes that are held through these functions, and what is free of the GPU's memory, and all of it. */
int32_t tessella_memory_state(uint64_t *held, uint64_t *free, uint64_t *total);
const char *tessella_memory_failure(void);

/* Runs a program of target "cuda", with arguments as for tessella_launch_mixed (on_device may be NULL), several times, `repeat` times for each kind of measurement, and measures it; the
 * caller's arrays are afterwards as after one tessella_launch with these arguments. The text lives until the program's
 * next profile. NULL where the launch fails: then *code is what it returns. Lines "key=value":
 *
 *     device=NVIDIA H200
 *     function=heat2d!
 *     copy_ceiling=3.9e12      bytes that this GPU copies a second, read and written, measured
 *     float32_ceiling=6e13     operations that it makes a second, likewise; and float64_ceiling
 *     kernels_time=1.5e-3      seconds from the first launch to the end of the last, copies left out
 *     copied_in_bytes=800      copies from the host: bytes, copied_in_count, seconds copied_in_time; likewise copied_out_*
 *     kernel=heat2d_kernel0    from here on of this kernel, and so for each that was launched
 *     launches=6
 *     time=7e-4                seconds of all its launches
 *     read_bytes=400           elements that each launch must read, counted from the polyhedral model, in bytes; likewise
 *                              written_bytes, instances, and operations in float32 and float64; missing where counting
 *                              takes too long
 *     exact=1                  0: the counts are upper limits
 *     grid=8 8 1               blocks of the last launch; likewise block, in threads
 *     registers=32             of a thread; shared_bytes of a block; local_bytes of a thread; blocks at once on a
 *                              multiprocessor; occupancy, the share of its threads that these are
 *     text=...                 a table for people; always last, goes on over several lines
 */
const char *tessella_profile(const tessella_program *program, void **arguments, const uint8_t *on_device, int32_t repeat,
                             int32_t *code);

/* A tuner: times schedules of a function, for "budget" seconds, and keeps the fastest. The request is that of tessella_compile,
 * without a schedule and with a class; arguments are those of a launch, places for results left out, in the host's memory.
 * They are copied, and stay as they are. Never returns NULL. One step looks at one schedule: it returns 1 if there may be more
 * to do, 0 at the end, -1 where nothing can be tuned. tessella_tune_keep puts the best so far where later compilations for the
 * class find it; it returns 0, or -1 where that cannot be written. tessella_tune_text tells how far the tuner is, in lines
 * "key=value"; it lives until the next call:
 *
 *     kind=tuned               else "refused", "tool_chain" or "internal", with codes= and text=
 *     function=heat2d!
 *     untuned=7.4e-3           seconds of a call, likewise "seconds" of the best schedule
 *     considered=412           schedules that the models looked at; "proposed" are those they left, "left" those still to come
 *     timed=14                 and "refused", and "differing": other results, which do not count
 *     text=...                 the best schedule; empty where Tessella's own choice is best; always last
 */
typedef struct tessella_tuning tessella_tuning;

tessella_tuning *tessella_tune(const char *request, void **arguments, double budget, uint64_t seed);
int32_t tessella_tune_step(const tessella_tuning *tuning);
int32_t tessella_tune_keep(const tessella_tuning *tuning);
const char *tessella_tune_text(const tessella_tuning *tuning);
void tessella_tune_release(tessella_tuning *tuning);
/* Forgets what all tuners have kept; how many functions that were, or -1. */
int64_t tessella_tuned_clear(void);

/* What a non-zero return value means, as lines "key=value"; it lives as long as the program. NULL if the program knows
 * no such code. Asked for by the thread that got the code.
 *
 *     kind=bounds              or mismatch, argument, outside (sizes), inexact, divide (values), thrown (by the source), overlap, memory, range, later, cuda
 *     argument=0               bounds: position of the array among the function's arguments, from 0, or none
 *     name=A                   bounds: its name
 *     axis=1                   bounds: the axis of the offending subscript, from 0
 *     subscript=i              bounds: the access's subscripts, one line each
 *     subscript=j + 1
 *     condition=n < size(A, 2) bounds: what does not hold
 *     certain=yes              bounds: no where the data decide whether the source gets to the access: it need not fail
 *     place=heat.jl:7          bounds: where the access stands
 *     text=...                 for people; always last, may go on over several lines
 */
const char *tessella_failure(const tessella_program *program, int32_t code);

/* Ends the program's life, and with it that of its texts and its code. NULL is ignored. */
void tessella_release(tessella_program *program);

#ifdef __cplusplus
}
#endif

#endif
