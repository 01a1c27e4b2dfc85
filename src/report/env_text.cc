// SPDX-License-Identifier: Apache-2.0
#include "report/env_text.h"

namespace topoguard {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::string_view kNothing = "# nothing to set here: `topoguard doctor` says why\n";

std::string shell(const Variables& variables) {
  std::string out;
  for (const auto& [name, value] : variables) {
    out += "export " + name + "='";
    for (const char c : value) {
      if (c == '\'')
        out += "'\\''";
      else
        out += c;
    }
    out += "'\n";
  }
  return out;
}

std::string plain(const Variables& variables) {
  std::string out;
  for (const auto& [name, value] : variables) out += name + "=" + value + "\n";
  return out;
}

// A JSON string is a YAML double-quoted scalar as well.
std::string quoted(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string kubernetes(const Variables& variables) {
  if (variables.empty()) return "env: []\n";
  std::string out = "env:\n";
  for (const auto& [name, value] : variables) {
    std::string kept;
    for (std::size_t i = 0; i < value.size(); ++i) {
      // the kubelet expands $(NAME); $$ stands for $
      if (value[i] == '$' && i + 1 < value.size() && value[i + 1] == '(') kept += '$';
      kept += value[i];
    }
    out += "  - name: " + name + "\n    value: " + quoted(kept) + "\n";
  }
  return out;
}

std::string json_object(const Variables& variables) {
  std::string out;
  for (const auto& [name, value] : variables)
    out += (out.empty() ? "\n  " : ",\n  ") + quoted(name) + ": " + quoted(value);
  return "{" + out + (out.empty() ? "}\n" : "\n}\n");
}

}  // namespace

std::optional<EnvFormat> env_format(std::string_view name) {
  if (name == "shell") return EnvFormat::shell;
  if (name == "docker") return EnvFormat::docker;
  if (name == "kubernetes") return EnvFormat::kubernetes;
  if (name == "slurm") return EnvFormat::slurm;
  if (name == "nccl-conf") return EnvFormat::nccl_conf;
  return std::nullopt;
}

std::string env_text(const Variables& variables, EnvFormat format) {
  switch (format) {
    case EnvFormat::kubernetes:
      return kubernetes(variables);
    case EnvFormat::json:
      return json_object(variables);
    case EnvFormat::nccl_conf:
      return plain(variables);
    case EnvFormat::docker:
      return variables.empty() ? std::string(kNothing) : plain(variables);
    case EnvFormat::slurm:
      // After `sbatch --export=NONE` srun would hand on nothing.
      return variables.empty() ? std::string(kNothing) : shell(variables) + "export SLURM_EXPORT_ENV=ALL\n";
    case EnvFormat::shell:
      break;
  }
  return variables.empty() ? std::string(kNothing) : shell(variables);
}

}  // namespace topoguard
