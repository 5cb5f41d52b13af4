/* The tables of subtests, each ended by an entry without a name, and what main() needs of check.c.
 */
#ifndef TESTS_MPI_SUITE_H
#define TESTS_MPI_SUITE_H

#include "check.h"

extern const struct Subtest atomic_subtests[];
extern const struct Subtest count_subtests[];
extern const struct Subtest datarep_subtests[];
extern const struct Subtest errhandler_subtests[];
extern const struct Subtest explicit_subtests[];
extern const struct Subtest failure_subtests[];
extern const struct Subtest guest_subtests[];
extern const struct Subtest info_subtests[];
extern const struct Subtest large_subtests[];
extern const struct Subtest mode_subtests[];
extern const struct Subtest nonblocking_subtests[];
extern const struct Subtest open_subtests[];
extern const struct Subtest overlap_subtests[];
extern const struct Subtest pointer_subtests[];
extern const struct Subtest random_subtests[];
extern const struct Subtest repeat_subtests[];
extern const struct Subtest replicated_subtests[];
extern const struct Subtest shared_subtests[];
extern const struct Subtest size_subtests[];
extern const struct Subtest split_subtests[];
extern const struct Subtest type_subtests[];
extern const struct Subtest view_subtests[];

/* Sets ranks, scratch directory and the seconds a subtest may take; after MPI_Init. */
void check_start(const char* scratch, unsigned limit_s);
/* Whether MPI_File_open is Tessera's exactly if it should be. */
bool check_library_is_right(void);
/* Runs one subtest; the failures of all ranks. Collective. */
long check_run(const struct Subtest* subtest);

/* The seed of the random subtests; suite.c sets it from the command line. */
extern unsigned suite_seed;

#endif
