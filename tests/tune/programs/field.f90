! Writes one dataset by HDF5's Fortran interface, and reads it back.
program field
  use hdf5
  implicit none
  integer(hid_t) :: f, s, d
  integer :: e, i
  character(len=1024) :: path
  integer(hsize_t) :: n(2) = (/100, 200/)
  real(8), allocatable :: a(:, :), b(:, :)
  allocate(a(100, 200), b(100, 200))
  a = reshape((/(real(i, 8), i = 1, 20000)/), (/100, 200/))
  call get_command_argument(1, path)
  call h5open_f(e)
  call h5fcreate_f(trim(path), H5F_ACC_TRUNC_F, f, e)
  call h5screate_simple_f(2, n, s, e)
  call h5dcreate_f(f, "field", H5T_NATIVE_DOUBLE, s, d, e)
  call h5dwrite_f(d, H5T_NATIVE_DOUBLE, a, n, e)
  call h5dread_f(d, H5T_NATIVE_DOUBLE, b, n, e)
  if (any(a /= b)) stop 1
  call h5dclose_f(d, e)
  call h5sclose_f(s, e)
  call h5fclose_f(f, e)
  call h5close_f(e)
  print *, "done"
end program
