/* The files of descriptors. */

/* Descriptors with larger numbers have no entry, and are looked up at each call. */
#define DESCRIPTORS 65536
/* Different names of files; a power of two. Names that do not fit are "other files". */
#define NAMES 16384

enum file_kind { FILE_UNKNOWN, FILE_OF_DISK, FILE_CHANNEL };

struct open_file {
    const char *name;
    enum file_kind kind;
    /* Bytes of calls with a buffer that are in no record yet, and whether they were written. */
    uint64_t buffered_bytes;
    int is_written;
};

static struct open_file open_files[DESCRIPTORS];
static const char *file_names[NAMES];
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    }
    return hash ^ (hash >> 32);
}

/* A copy of a name that is valid until the end of the process. Equal names have one copy. */
static const char *stored_name(const char *text) {
    const uint64_t hash = hash_of(text);
    const char *name = "other files";
    size_t i;
    __wrap_pthread_mutex_lock(&names_lock);
    for (i = 0; i < NAMES; i++) {
        const char **entry = &file_names[(hash + i) & (NAMES - 1)];
        if (*entry == NULL) {
            *entry = strdup(text);
        }
        if (*entry == NULL || strcmp(*entry, text) == 0) {
            name = *entry == NULL ? name : *entry;
            break;
        }
    }
    pthread_mutex_unlock(&names_lock);
    return name;
}

/* Looks up a descriptor in the system. */
static struct open_file look_up(int descriptor) {
    struct open_file file = {"unknown file", FILE_CHANNEL, 0, 0};
    char link[64], path[PATH_MAX];
    struct stat status;
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = '\0';
        file.name = stored_name(path);
    }
    if (fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))) {
        file.kind = FILE_OF_DISK;
    }
    return file;
}

static struct open_file file_of(int descriptor) {
    struct open_file file = {NULL, FILE_UNKNOWN, 0, 0};
    if (descriptor < 0 || descriptor >= DESCRIPTORS) {
        return look_up(descriptor);
    }
    file.kind = __atomic_load_n(&open_files[descriptor].kind, __ATOMIC_ACQUIRE);
    file.name = open_files[descriptor].name;
    if (file.kind == FILE_UNKNOWN) {
        file = look_up(descriptor);
        open_files[descriptor].name = file.name;
        open_files[descriptor].buffered_bytes = 0;
        __atomic_store_n(&open_files[descriptor].kind, file.kind, __ATOMIC_RELEASE);
    }
    return file;
}

/* The descriptor belongs to another file from now on, or to none. */
static void forget_file(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        __atomic_store_n(&open_files[descriptor].kind, FILE_UNKNOWN, __ATOMIC_RELEASE);
    }
}
