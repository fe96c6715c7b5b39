# cmake -DCOMPILER=... -DEMULATOR=... -DSOURCE=top of the tree -DBINARY=where to put it -P neon_check.cmake
execute_process(COMMAND ${COMPILER} -std=c++20 -O2 -static -I${SOURCE} ${SOURCE}/tests/sim/kernels/neon_check.cpp
  ${SOURCE}/sim/kernels/matmul/gemm_neon.cpp ${SOURCE}/sim/kernels/matmul/gemm_baseline.cpp -o ${BINARY} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the checker did not compile")
endif()
execute_process(COMMAND ${EMULATOR} -cpu max ${BINARY} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the checker failed: ${result}")
endif()
