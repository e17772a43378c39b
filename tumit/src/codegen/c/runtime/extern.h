/* ---- One file of the program contains the recorder. The name of this symbol explains it in
 * linker messages ---- */

extern TUMIT1_SHARED const char tumit1_one_source_file_must_include_the_header_without_TUMIT_EXTERN;
#ifdef TUMIT_EXTERN
__attribute__((__used__)) static const char *const tumit1_needs_recorder =
    &tumit1_one_source_file_must_include_the_header_without_TUMIT_EXTERN;
#else
const char tumit1_one_source_file_must_include_the_header_without_TUMIT_EXTERN = 1;
#endif
