# What `cmake --install` puts where, so that a project elsewhere builds on opshap's folders:
#
#   find_package(opshap)                                 every folder without LibTorch, as opshap::core, opshap::estimators, …
#   find_package(opshap COMPONENTS core evaluation)      the same; folders that are not there are refused by name
#   find_package(opshap COMPONENTS operators)            those with LibTorch too; -DOPSHAP_TORCH says which, as in a build of opshap
#
# Headers are included as in the tree: "core/estimator.hpp".
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(opshap_package ${CMAKE_INSTALL_LIBDIR}/cmake/opshap)

# opshap_install(<folder> <torch>): the folder's headers. Folders with LibTorch are exported apart from the others.
function(opshap_install folder torch)
  set(export opshap-light)
  if(torch)
    set(export opshap-networks)
  endif()
  set_property(GLOBAL APPEND PROPERTY ${export}_folders ${folder})
  set_target_properties(opshap_${folder} PROPERTIES EXPORT_NAME ${folder})
  get_target_property(sets opshap_${folder}_headers INTERFACE_HEADER_SETS)
  set(headers)
  foreach(set IN LISTS sets)
    list(APPEND headers FILE_SET ${set} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/opshap)
  endforeach()
  install(TARGETS opshap_${folder} opshap_${folder}_headers EXPORT ${export} ${headers})
endfunction()

# After the last folder: the libraries, the program, and what find_package(opshap) reads. The program finds its libraries beside itself or in the library
# folder beside its own, so the tree may be moved, and so may the three files alone.
function(opshap_install_package)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(opshap PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/${to_libraries}")
  set_target_properties(opshap_light PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS opshap)
  install(TARGETS opshap_light EXPORT opshap-light)
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:opshap>\" man --out \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
  install(EXPORT opshap-light NAMESPACE opshap:: DESTINATION ${opshap_package})
  if(OPSHAP_NETWORKS)
    set_target_properties(opshap_networks_part PROPERTIES INSTALL_RPATH "$ORIGIN;${torch_libraries}")
    install(TARGETS opshap_networks_part EXPORT opshap-networks)
    install(EXPORT opshap-networks NAMESPACE opshap:: DESTINATION ${opshap_package})
  endif()
  get_property(light GLOBAL PROPERTY opshap-light_folders)
  get_property(networks GLOBAL PROPERTY opshap-networks_folders)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/opshap-config.cmake.in ${PROJECT_BINARY_DIR}/opshap-config.cmake
                                INSTALL_DESTINATION ${opshap_package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/opshap-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/opshap-config.cmake ${PROJECT_BINARY_DIR}/opshap-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/library_packages.cmake ${PROJECT_SOURCE_DIR}/cmake/torch.cmake DESTINATION ${opshap_package})
endfunction()
