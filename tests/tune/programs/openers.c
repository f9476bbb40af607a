// Two threads of each rank open files at the same time, each over a communicator of its own, while a third thread
// reduces over the world.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, TIMES = 4, REDUCTIONS = 20 };
static MPI_Comm group[THREADS];
static const char* folder;

static void* open_files(void* place) {
    char name[1100];
    const int i = (int)((MPI_Comm*)place - group);
    for (int time = 0; time < TIMES; ++time) {
        MPI_File file;
        snprintf(name, sizeof name, "%s/file%d-%d", folder, i, time);
        if (MPI_File_open(group[i], name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
            return "wrong";
        MPI_File_close(&file);
    }
    return NULL;
}

static void* reduce(void* ranks) {
    for (int i = 0; i < REDUCTIONS; ++i) {
        int one = i, all = 0;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (all != i * *(int*)ranks) return "wrong";
    }
    return NULL;
}

int main(int count, char** argument) {
    int given = 0, rank = 0, ranks = 0, bad = 0;
    pthread_t thread[THREADS + 1];
    void* told = NULL;
    folder = argument[count - 1];
    MPI_Init_thread(&count, &argument, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &group[i]);
    for (int i = 0; i < THREADS; ++i) pthread_create(&thread[i], NULL, open_files, &group[i]);
    pthread_create(&thread[THREADS], NULL, reduce, &ranks);
    for (int i = 0; i <= THREADS; ++i) {
        pthread_join(thread[i], &told);
        bad |= told != NULL;
    }
    for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&group[i]);
    MPI_Finalize();
    if (rank == 0) printf("threads: %d, wrong: %d\n", given == MPI_THREAD_MULTIPLE, bad);
    return bad;
}
