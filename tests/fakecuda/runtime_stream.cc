// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

namespace fakecuda {
namespace {

// Streams and events are handles and nothing else: all work is complete when the call that orders it returns.
int make_handle(void** handle) {
  *handle = new char;
  return kSuccess;
}

int drop_handle(void* handle) {
  delete static_cast<char*>(handle);
  return kSuccess;
}

int fake_cudaStreamCreate(void** stream) { return make_handle(stream); }
int fake_cudaStreamCreateWithFlags(void** stream, unsigned) { return make_handle(stream); }
int fake_cudaStreamCreateWithPriority(void** stream, unsigned, int) { return make_handle(stream); }
int fake_cudaStreamDestroy(void* stream) { return drop_handle(stream); }
int fake_cudaStreamSynchronize(void*) { return kSuccess; }
int fake_cudaStreamQuery(void*) { return kSuccess; }
int fake_cudaStreamWaitEvent(void*, void*, unsigned) { return kSuccess; }

int fake_cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return kSuccess;
}

int fake_cudaLaunchHostFunc(void*, void (*function)(void*), void* data) {
  function(data);
  return kSuccess;
}

int fake_cudaEventCreate(void** event) { return make_handle(event); }
int fake_cudaEventCreateWithFlags(void** event, unsigned) { return make_handle(event); }
int fake_cudaEventDestroy(void* event) { return drop_handle(event); }
int fake_cudaEventRecord(void*, void*) { return kSuccess; }
int fake_cudaEventQuery(void*) { return kSuccess; }
int fake_cudaEventSynchronize(void*) { return kSuccess; }

// Capture status 0 is cudaStreamCaptureStatusNone; the graph outputs are only filled while capturing, so the differing
// argument lists of CUDA 12 (_v2) and 13 do not matter.
int fake_cudaStreamGetCaptureInfo(void*, int* status, unsigned long long* id) {
  *status = 0;
  if (id != nullptr) *id = 0;
  return kSuccess;
}

int fake_cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id) {
  return fake_cudaStreamGetCaptureInfo(stream, status, id);
}

int fake_cudaStreamIsCapturing(void*, int* status) {
  *status = 0;
  return kSuccess;
}

thread_local int capture_mode = 0;  // cudaStreamCaptureModeGlobal

int fake_cudaThreadExchangeStreamCaptureMode(int* mode) {
  int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return kSuccess;
}

}  // namespace

const std::vector<Fake>& stream_fakes() {
  static const auto* const fakes = new std::vector<Fake>{
      FAKECUDA_ENTRY(cudaStreamCreate),
      FAKECUDA_ENTRY(cudaStreamCreateWithFlags),
      FAKECUDA_ENTRY(cudaStreamCreateWithPriority),
      FAKECUDA_ENTRY(cudaStreamDestroy),
      FAKECUDA_ENTRY(cudaStreamSynchronize),
      FAKECUDA_ENTRY(cudaStreamQuery),
      FAKECUDA_ENTRY(cudaStreamWaitEvent),
      FAKECUDA_ENTRY(cudaDeviceGetStreamPriorityRange),
      FAKECUDA_ENTRY(cudaLaunchHostFunc),
      FAKECUDA_ENTRY(cudaEventCreate),
      FAKECUDA_ENTRY(cudaEventCreateWithFlags),
      FAKECUDA_ENTRY(cudaEventDestroy),
      FAKECUDA_ENTRY(cudaEventRecord),
      FAKECUDA_ENTRY(cudaEventQuery),
      FAKECUDA_ENTRY(cudaEventSynchronize),
      FAKECUDA_ENTRY(cudaStreamGetCaptureInfo),
      FAKECUDA_ENTRY(cudaStreamGetCaptureInfo_v2),
      FAKECUDA_ENTRY(cudaStreamIsCapturing),
      FAKECUDA_ENTRY(cudaThreadExchangeStreamCaptureMode),
  };
  return *fakes;
}

}  // namespace fakecuda
