#include "public_cases.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <utility>

#include "planner/compare/log_text.h"
#include "planner/compare/placement.h"

namespace tidemark {
namespace {

// GGUF's architecture of a model's name; the first that stands in it.
const std::vector<std::pair<std::string, std::string>> kArchitectures{
    {"Qwen3-235B", "qwen3moe"}, {"Qwen3-8B", "qwen3"},
    {"Qwen2", "qwen2"},         {"DeepSeek-V2", "deepseek2"},
    {"Gemma-2", "gemma2"},      {"Gemma-3", "gemma3"},
    {"Phi-3", "phi3"},          {"Command-R", "command-r"},
    {"Pythia", "gptneox"},      {"OLMoE", "olmoe"},
    {"gpt-oss", "gpt-oss"},     {"Mamba", "mamba"},
    {"Qwen3.5", "qwen35"},      {"Llama", "llama"},
    {"LLaVA", "llama"}};

std::string architecture_of(const std::string& model) {
  for (const auto& [part, architecture] : kArchitectures) {
    if (model.find(part) != std::string::npos) return architecture;
  }
  return {};
}

LlamaWording wording_of(const std::string& version) {
  const auto says = [&](const char* text) { return version.find(text) != std::string::npos; };
  if (says("0.8.x")) return LlamaWording::k2024;  // llamafile
  if (says("early 2024")) return LlamaWording::kEarly2024;
  if (says("2024")) return LlamaWording::k2024;
  if (says("Jan-Feb 2025")) return LlamaWording::kJanuary2025;
  if (says("late 2025")) return LlamaWording::kAutumn2025;
  if (says("spring 2025") || says("mid 2025") || says("embedded")) return LlamaWording::kSpring2025;
  if (says("Jul 2025") || says("Aug")) return LlamaWording::kSummer2025;
  return says("2026") ? LlamaWording::k2026 : LlamaWording::kUnknown;
}

std::string text_of(const YAML::Node& node) {
  return node && node.IsScalar() ? node.as<std::string>() : std::string();
}

void copy_facts(const YAML::Node& from,
                const std::vector<std::pair<const char*, const char*>>& keys, LoggedFacts& facts) {
  for (const auto& [key, logged] : keys) {
    const std::string text = text_of(from[key]);
    if (text.empty()) continue;
    facts.words[logged] = text;
    if (const auto number = leading_integer(text)) facts.numbers[logged] = {*number};
  }
}

void put(LoggedRun& run, TermKind kind, const std::string& device, double mib) {
  run.terms.push_back({.kind = kind,
                       .device = device,
                       .figure = {static_cast<int64_t>(std::llround(mib * 1048576)), 5243}});
}

void put_all(const YAML::Node& node, TermKind kind, TermKind total, LoggedRun& run) {
  if (!node) return;
  if (node.IsScalar()) return put(run, total, "", node.as<double>());
  for (const auto& entry : node) {
    put(run, kind, entry.first.as<std::string>(), entry.second.as<double>());
  }
}

void read_terms(const YAML::Node& measured, LoggedRun& run) {
  put_all(measured["model_buffer_mib"], TermKind::kModel, TermKind::kModel, run);
  for (LoggedTerm& term : run.terms) {
    if (term.device.ends_with("REPACK")) term.kind = TermKind::kRepacked;
  }
  put_all(measured["kv_buffer_mib"], TermKind::kKv, TermKind::kKvTotal, run);
  put_all(measured["kv_total_mib"], TermKind::kKvTotal, TermKind::kKvTotal, run);
  put_all(measured["output_buffer_mib"], TermKind::kOutput, TermKind::kOutput, run);
  put_all(measured["input_buffer_mib"], TermKind::kInput, TermKind::kInput, run);
  put_all(measured["compute_buffer_mib"], TermKind::kCompute, TermKind::kCompute, run);
  put_all(measured["compute_request_mib"], TermKind::kCompute, TermKind::kCompute, run);
  const YAML::Node caches = measured["kv_mib"];
  if (caches && caches["swa"] && caches["non_swa"]) {
    put(run, TermKind::kKvFull, "", caches["non_swa"].as<double>());
    put(run, TermKind::kKvWindow, "", caches["swa"].as<double>());
  }
}

void read_settings(const YAML::Node& settings, LoggedFacts& facts) {
  copy_facts(settings,
             {{"n_ctx", "n_ctx"},
              {"n_batch", "n_batch"},
              {"n_ubatch", "n_ubatch"},
              {"n_seq_max", "n_seq_max"},
              {"parallel", "n_seq_max"},
              {"kv_unified", "kv_unified"},
              {"swa_full", "swa_full"},
              {"embeddings", "embeddings"},
              {"gpu_layers", "offloaded"},
              {"type_kv", "type_k"},
              {"type_k", "type_k"},
              {"type_kv", "type_v"},
              {"type_v", "type_v"}},
             facts);
  const std::string offloaded = text_of(settings["offloaded"]);
  if (offloaded.find('/') != std::string::npos) {
    facts.numbers["offloaded"] = {leading_integer(offloaded).value_or(0)};
  }
  const std::string flash = text_of(settings["flash_attn"]);
  if (flash == "0" || flash == "1") facts.words["flash_attn"] = flash;
  if (flash.find("on") != std::string::npos) facts.words["flash_attn"] = "1";
  if (text_of(settings["devices"]).find("n_copies 4") != std::string::npos) {
    facts.numbers["n_copies"] = {4};
  }
}

// Is there a word of layers on each device that computes?
bool layers_are_placed(const LoggedRun& run) {
  for (const LoggedTerm& term : run.terms) {
    const std::string device = device_of(term.device);
    if (term.kind != TermKind::kCompute || device.empty()) continue;
    bool placed = false;
    for (const LoggedTerm& other : run.terms) {
      placed = placed || (other.kind != TermKind::kCompute && device_of(other.device) == device);
    }
    const bool offloaded = run.settings.number("offloaded").has_value();
    if (!placed && !(offloaded && run.find(TermKind::kKvFull) != nullptr)) return false;
  }
  return true;
}

std::string missing_of(const LoggedRun& run, const YAML::Node& settings) {
  std::string missing;
  const auto need = [&](bool there, const char* what) {
    if (!there) missing += std::string(missing.empty() ? "" : ", ") + what;
  };
  const LoggedFacts& facts = run.settings;
  const std::string_view type = facts.word("type_v");
  need(run.find(TermKind::kCompute) != nullptr, "compute buffer");
  need(facts.number("n_ctx").has_value(), "n_ctx");
  need(facts.number("n_ubatch") || facts.number("n_batch"), "n_ubatch");
  need(!facts.word("flash_attn").empty() || type.starts_with("q"), "flash attention");
  need(!type.empty(), "cache type");
  const std::string devices = text_of(settings["devices"]);
  need(facts.number("offloaded") || !devices.empty(), "devices");
  need(layers_are_placed(run), "layers by device");
  return missing;
}

PublicCase case_of(const YAML::Node& node) {
  PublicCase made{.id = text_of(node["id"]),
                  .engine = text_of(node["engine"]),
                  .version = text_of(node["engine_version"]),
                  .model = text_of(node["model"])};
  LoggedRun& run = made.run;
  const YAML::Node hyper = node["hyper_parameters"];
  copy_facts(hyper,
             {{"n_layer", "n_layer"},
              {"n_embd", "n_embd"},
              {"n_head", "n_head"},
              {"n_head_kv", "n_head_kv"},
              {"head_dim", "n_embd_head_k"},
              {"head_dim", "n_embd_head_v"},
              {"head_k", "n_embd_head_k"},
              {"head_v", "n_embd_head_v"},
              {"n_ff", "n_ff"},
              {"n_vocab", "n_vocab"},
              {"n_expert", "n_expert"},
              {"n_expert_used", "n_expert_used"},
              {"n_ff_exp", "n_ff_exp"},
              {"n_lora_kv", "n_lora_kv"},
              {"params", "params"},
              {"n_swa", "n_swa"},
              {"ftype", "ftype"}},
             run.model);
  run.model.words["arch"] = architecture_of(made.model);
  run.model.words["name"] = made.model;
  if (made.engine.starts_with("ik_")) run.engine = LogEngine::kIkLlamaCpp;
  run.wording = wording_of(made.version);
  // ollama's releases of the first half of 2026 hold llama.cpp's ec98e2002 of December 2025.
  if (made.engine == "ollama" && made.version == "2026") run.build = 7437;
  if (made.version.starts_with("b")) run.build = leading_integer(made.version.substr(1));
  read_settings(node["settings"], run.settings);
  read_terms(node["measured"], run);
  if (const auto size = figure(text_of(hyper["file_size"]))) {
    run.terms.push_back({.kind = TermKind::kFileSize, .figure = *size});
  }
  const bool prints_buffers = run.find(TermKind::kKv) != nullptr ||
                              run.find(TermKind::kCompute) != nullptr ||
                              run.find(TermKind::kKvTotal) != nullptr;
  const std::string& engine = made.engine;
  made.is_llama_family = prints_buffers && engine.find("MLC") == std::string::npos &&
                         engine.find("whisper") == std::string::npos &&
                         engine.find("vLLM") == std::string::npos;
  made.incomplete = missing_of(run, node["settings"]);
  return made;
}

}  // namespace

std::vector<PublicCase> public_cases(const std::string& file) {
  std::vector<PublicCase> cases;
  for (const YAML::Node& node : YAML::LoadFile(file)) cases.push_back(case_of(node));
  return cases;
}

}  // namespace tidemark
