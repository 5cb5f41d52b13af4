! Fortran 2008 with the module mpi_f08: typed handles, array sections as buffers, derived types,
! nonblocking and nonblocking collective access, shared and ordered access, error handlers.
!
!   mpiexec -n N fortran_mpi_f08 FOLDER
module count_calls
  use mpi_f08
  implicit none
  integer :: handler_calls = 0
  logical :: handler_saw_file = .false.
contains
  subroutine count_call(file, code)
    type(MPI_File) :: file
    integer :: code
    handler_calls = handler_calls + 1
    handler_saw_file = file /= MPI_FILE_NULL .and. code /= MPI_SUCCESS
  end subroutine count_call
end module count_calls

program fortran_mpi_f08
  use mpi_f08
  use count_calls
  implicit none

  integer :: rank, ranks
  character(len=1024) :: folder

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, folder)
  call check(len_trim(folder) > 0, 'no folder')
  call test_blocks()
  call test_memory_type()
  call test_nonblocking()
  call test_collective_nonblocking()
  call test_shared()
  call test_info()
  call test_errors()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'OK'
  call MPI_Finalize()

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (0, '(a,i0,a,i0,2a)') 'rank ', rank, ' of ', ranks, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check

  subroutine open_new(name, file)
    character(len=*), intent(in) :: name
    type(MPI_File), intent(out) :: file
    integer :: code
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/'//name, MPI_MODE_CREATE + MPI_MODE_RDWR, &
                       MPI_INFO_NULL, file, code)
    call check(code == MPI_SUCCESS, 'open '//name)
  end subroutine open_new

  ! A plane of 3 x 4 blocks of cells per rank, stacked in the third dimension and interleaved in
  ! the second: rank r has the planes r, r + ranks, ...
  subroutine test_blocks()
    integer, parameter :: wide = 7, high = 5, deep = 3
    type(MPI_File) :: file
    type(MPI_Datatype) :: plane, cyclic
    type(MPI_Status) :: status
    integer :: mine(wide, high, deep), back(wide, high), i, found
    integer(kind=MPI_ADDRESS_KIND) :: extent
    mine = reshape([(10000*rank + i, i=1, size(mine))], shape(mine))
    call open_new('blocks.bin', file)
    call MPI_Type_create_subarray(2, [wide, high], [wide, high], [0, 0], MPI_ORDER_FORTRAN, &
                                  MPI_INTEGER, plane)
    extent = 4_MPI_ADDRESS_KIND*wide*high*ranks
    call MPI_Type_create_resized(plane, 0_MPI_ADDRESS_KIND, extent, cyclic)
    call MPI_Type_commit(cyclic)
    call MPI_File_set_view(file, 4_MPI_OFFSET_KIND*wide*high*rank, MPI_INTEGER, cyclic, 'native', &
                           MPI_INFO_NULL)
    call MPI_File_write_all(file, mine, size(mine), MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, found)
    call check(found == size(mine), 'count of write_all')
    call MPI_File_seek(file, int(wide*high*(deep - 1), MPI_OFFSET_KIND), MPI_SEEK_SET)
    call MPI_File_read_all(file, back, size(back), MPI_INTEGER, status)
    call check(all(back == mine(:, :, deep)), 'read_all')
    call MPI_File_close(file)
    call check(file == MPI_FILE_NULL, 'close')
    call MPI_Type_free(cyclic)
    call MPI_Type_free(plane)
  end subroutine test_blocks

  ! Every second column leaves and comes back; the others stay.
  subroutine test_memory_type()
    type(MPI_File) :: file
    type(MPI_Datatype) :: every_other
    integer :: mine(6, 8), back(6, 8), i
    mine = reshape([(1000*rank + i, i=1, size(mine))], shape(mine))
    back = -1
    call open_new('memory.bin', file)
    call MPI_Type_vector(4, 6, 12, MPI_INTEGER, every_other)
    call MPI_Type_commit(every_other)
    call MPI_File_write_at_all(file, 96_MPI_OFFSET_KIND*rank, mine, 1, every_other, &
                               MPI_STATUS_IGNORE)
    call MPI_File_read_at_all(file, 96_MPI_OFFSET_KIND*rank, back, 1, every_other, &
                              MPI_STATUS_IGNORE)
    call check(all(back(:, 1::2) == mine(:, 1::2)), 'columns')
    call check(all(back(:, 2::2) == -1), 'gaps')
    call MPI_Type_free(every_other)
    call MPI_File_close(file)
  end subroutine test_memory_type

  subroutine test_nonblocking()
    type(MPI_File) :: file
    type(MPI_Request) :: requests(3)
    type(MPI_Status) :: statuses(3)
    integer, asynchronous :: mine(30), back(30)
    integer :: i, found
    logical :: done
    mine = [(100*rank + i, i=1, 30)]
    back = -1
    call open_new('nonblocking.bin', file)
    do i = 0, 2
      call MPI_File_iwrite_at(file, 120_MPI_OFFSET_KIND*rank + 40*i, mine(10*i + 1:10*i + 10), 10, &
                              MPI_INTEGER, requests(i + 1))
    end do
    call MPI_Waitall(3, requests, statuses)
    do i = 1, 3
      call MPI_Get_count(statuses(i), MPI_INTEGER, found)
      call check(found == 10, 'count of iwrite_at')
    end do
    call MPI_File_seek(file, 120_MPI_OFFSET_KIND*rank, MPI_SEEK_SET)
    call MPI_File_iread(file, back, 30, MPI_INTEGER, requests(1))
    done = .false.
    do while (.not. done)
      call MPI_Test(requests(1), done, statuses(1))
    end do
    call check(all(back == mine), 'iread')
    call check(requests(1) == MPI_REQUEST_NULL, 'request after test')
    call MPI_File_close(file)
  end subroutine test_nonblocking

  subroutine test_collective_nonblocking()
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer, asynchronous :: mine(25), back(25)
    integer :: i
    mine = [(50*rank + i, i=1, 25)]
    call open_new('icollective.bin', file)
    call MPI_File_iwrite_at_all(file, 100_MPI_OFFSET_KIND*rank, mine, 25, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call MPI_File_seek(file, 100_MPI_OFFSET_KIND*rank, MPI_SEEK_SET)
    call MPI_File_iread_all(file, back, 25, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check(all(back == mine), 'iread_all')
    call MPI_File_seek(file, 100_MPI_OFFSET_KIND*(ranks + rank), MPI_SEEK_SET)
    call MPI_File_write_all_begin(file, mine, 25, MPI_INTEGER)
    call MPI_File_write_all_end(file, mine, status)
    call MPI_File_close(file)
  end subroutine test_collective_nonblocking

  subroutine test_shared()
    type(MPI_File) :: file
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    integer, asynchronous :: mine(10), back(10)
    integer(kind=MPI_OFFSET_KIND) :: position
    integer :: i
    mine = [(10*rank + i, i=1, 10)]
    call open_new('shared.bin', file)
    do i = 0, ranks - 1
      if (i == rank) then
        call MPI_File_iwrite_shared(file, mine, 10, MPI_INTEGER, request)
        call MPI_Wait(request, status)
      end if
      call MPI_File_sync(file)
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
    call MPI_File_write_ordered(file, mine, rank, MPI_INTEGER, status)
    call MPI_File_get_position_shared(file, position)
    call check(position == 40*ranks + 2*ranks*(ranks - 1), 'shared position')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_read_ordered(file, back, 10, MPI_INTEGER, status)
    call check(all(back == mine), 'read_ordered')
    call MPI_File_close(file)
  end subroutine test_shared

  subroutine test_info()
    type(MPI_File) :: file
    type(MPI_Info) :: used
    type(MPI_Group) :: group
    integer :: keys, members
    integer(kind=MPI_OFFSET_KIND) :: length
    call open_new('info.bin', file)
    call MPI_File_get_info(file, used)
    call MPI_Info_get_nkeys(used, keys)
    call check(keys >= 0, 'keys')
    call MPI_File_set_info(file, used)
    call MPI_Info_free(used)
    call MPI_File_preallocate(file, 3000_MPI_OFFSET_KIND)
    call MPI_File_get_size(file, length)
    call check(length == 3000, 'preallocate')
    call MPI_File_get_group(file, group)
    call MPI_Group_size(group, members)
    call check(members == ranks, 'group')
    call MPI_Group_free(group)
    call MPI_File_close(file)
  end subroutine test_info

  subroutine test_errors()
    type(MPI_File) :: file
    type(MPI_Errhandler) :: handler
    integer :: code, class
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/missing.bin', MPI_MODE_RDONLY, &
                       MPI_INFO_NULL, file, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_NO_SUCH_FILE, 'class of a missing file')
    call open_new('errors.bin', file)
    call MPI_File_create_errhandler(count_call, handler)
    call MPI_File_set_errhandler(file, handler)
    call MPI_File_call_errhandler(file, MPI_ERR_IO)
    call check(handler_calls == 1 .and. handler_saw_file, 'call_errhandler')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'no such thing', &
                           MPI_INFO_NULL, code)
    call check(code /= MPI_SUCCESS .and. handler_calls == 2, 'handler of a failing call')
    call MPI_File_set_errhandler(file, MPI_ERRORS_RETURN)
    call MPI_Errhandler_free(handler)
    call MPI_File_close(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    code = MPI_SUCCESS
    if (rank == 0) call MPI_File_delete(trim(folder)//'/errors.bin', MPI_INFO_NULL, code)
    call check(code == MPI_SUCCESS, 'delete')
  end subroutine test_errors
end program fortran_mpi_f08
