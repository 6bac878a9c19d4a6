// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/checkpoint.h"

#include <algorithm>
#include <cstring>

namespace lssm {
namespace {

constexpr const char* kFormat = "lssm-1";

struct NamedTensor {
  std::string name;
  Tensor value;  // shares its numbers with the parameter or the moment
};

std::vector<NamedTensor> all_tensors(Experiment& experiment, Optimizer* optimizer) {
  std::vector<NamedTensor> all;
  for (const Parameter& p : experiment.model.parameters().all()) all.push_back({p.name, p.value});
  if (optimizer) {
    for (const Optimizer::State& s : optimizer->state()) all.push_back({s.name, s.value});
  }
  return all;
}

std::string safetensors_dtype(DType dtype) {
  return dtype == DType::f64 ? "F64" : dtype == DType::f32 ? "F32" : "I32";
}

bool is_optimizer_state(const std::string& name) {
  return name.starts_with("adam.") || name.starts_with("sgd.");
}

// What differs between the file and what is expected, "" if nothing does.
std::string differences(const SafetensorsFile& file, const std::vector<NamedTensor>& expected,
                        bool with_optimizer) {
  std::string list;
  const auto report = [&list](const auto&... parts) {
    list += (list.empty() ? "" : "; ") + text(parts...);
  };
  for (const NamedTensor& tensor : expected) {
    const SafetensorsEntry* entry = file.find(tensor.name);
    if (!entry) {
      report(tensor.name, " is missing");
    } else if (entry->shape != tensor.value.shape().sizes()) {
      report(tensor.name, " has shape ", Json(entry->shape).dump(), ", expected ",
             tensor.value.shape());
    } else if (entry->dtype != safetensors_dtype(tensor.value.dtype())) {
      report(tensor.name, " is ", entry->dtype, ", expected ",
             safetensors_dtype(tensor.value.dtype()));
    }
  }
  for (const SafetensorsEntry& entry : file.entries) {
    if (!with_optimizer && is_optimizer_state(entry.name)) continue;
    const bool known =
        std::any_of(expected.begin(), expected.end(),
                    [&](const NamedTensor& tensor) { return tensor.name == entry.name; });
    if (!known) report(entry.name, " is not in the model");
  }
  return list;
}

std::string metadata_value(const SafetensorsFile& file, const std::string& path,
                           const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    fail_file(path, ": no checkpoint of lssm: its metadata has no \"", key, "\"");
  return found->second;
}

Json metadata_json(const SafetensorsFile& file, const std::string& path, const std::string& key) {
  const Json json = Json::parse(metadata_value(file, path, key), nullptr, false);
  if (!json.is_object()) fail_file(path, ": its metadata \"", key, "\" is no JSON object");
  return json;
}

}  // namespace

void write_checkpoint(const std::string& path, Experiment& experiment, Optimizer& optimizer,
                      const TrainState& state) {
  std::vector<NamedTensor> tensors = all_tensors(experiment, &optimizer);
  std::vector<SafetensorsEntry> entries;
  for (NamedTensor& tensor : tensors) {
    tensor.value = tensor.value.to(Device::cpu);
    entries.push_back(
        {tensor.name,
         safetensors_dtype(tensor.value.dtype()),
         tensor.value.shape().sizes(),
         {static_cast<const char*>(tensor.value.raw()), size_t(tensor.value.bytes())}});
  }
  const Json training = {{"step", state.step},
                         {"best_accuracy", state.best_accuracy},
                         {"best_loss", state.best_loss},
                         {"curriculum_stage", state.curriculum.stage},
                         {"curriculum_steps", state.curriculum.steps},
                         {"curriculum_loss", state.curriculum.average_loss}};
  write_safetensors(
      path, entries,
      {{"format", kFormat}, {"config", experiment.resolved.dump()}, {"train", training.dump()}});
}

Json checkpoint_config(const SafetensorsFile& file, const std::string& path) {
  const std::string format = metadata_value(file, path, "format");
  if (format != kFormat)
    fail_file(path, ": checkpoint format \"", format, "\", expected \"", kFormat, "\"");
  return metadata_json(file, path, "config");
}

TrainState load_checkpoint(const SafetensorsFile& file, const std::string& path,
                           Experiment& experiment, Optimizer* optimizer) {
  const std::vector<NamedTensor> tensors = all_tensors(experiment, optimizer);
  const std::string wrong = differences(file, tensors, optimizer != nullptr);
  if (!wrong.empty()) fail_file(path, ": does not fit the model: ", wrong);
  for (const NamedTensor& tensor : tensors) {
    Tensor host(tensor.value.shape(), tensor.value.dtype());
    std::memcpy(host.raw(), file.find(tensor.name)->bytes.data(), size_t(host.bytes()));
    Tensor target = tensor.value;
    target.copy_from(host.to(target.device()));
  }
  const Json training = metadata_json(file, path, "train");
  const auto number = [&](const char* key) -> Json {
    if (training.contains(key) && training[key].is_number()) return training[key];
    fail_file(path, ": its metadata \"train\" has no number \"", key, "\"");
  };
  const Json step = number("step");
  const int64_t steps = experiment.config.train.steps;
  if (!step.is_number_integer() || step < 0 || step > steps) {
    fail_file(path, ": its training step is ", step.dump(), ", expected 0 to ", steps);
  }
  return {step,
          number("best_accuracy"),
          number("best_loss"),
          {number("curriculum_stage"), number("curriculum_steps"), number("curriculum_loss")}};
}

}  // namespace lssm
