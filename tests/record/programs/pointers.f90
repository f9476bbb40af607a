! Windows whose memory MPI gives as a type(c_ptr); each rank puts 80 B into the next one's.
program pointers
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    use mpi
    implicit none
    integer(MPI_ADDRESS_KIND), parameter :: bytes = 80, start = 0
    double precision :: own(10)
    double precision, pointer :: there(:)
    type(c_ptr) :: base
    integer :: rank, ranks, window, code
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    own = rank
    call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, code)
    call exchange
    call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, code)
    call exchange
    call MPI_Finalize(code)
contains
    subroutine exchange
        call c_f_pointer(base, there, [10])
        call MPI_Win_fence(0, window, code)
        call MPI_Put(own, 10, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), start, 10, MPI_DOUBLE_PRECISION, &
                     window, code)
        call MPI_Win_fence(0, window, code)
        if (any(there /= mod(rank + ranks - 1, ranks))) call MPI_Abort(MPI_COMM_WORLD, 9, code)
        call MPI_Win_free(window, code)
    end subroutine
end program
