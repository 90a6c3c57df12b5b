--- The answers of typescript-language-server beyond LSP. It publishes problems in several parts, and never of which version of
--- the text they are; but TypeScript itself, behind it, can be asked for those of the text as it was sent last.

local clients = require("azimuth.lang.clients")

local M = {}

local COMMAND = "typescript.tsserverRequest"
--- The parts that make up all problems of a document.
local PARTS = { "syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync" }
local SEVERITIES = vim.lsp.protocol.DiagnosticSeverity
---@type table<string, lsp.DiagnosticSeverity>
local SEVERITY_OF = { error = SEVERITIES.Error, warning = SEVERITIES.Warning, suggestion = SEVERITIES.Hint }

--- True if TypeScript can be asked through a client.
---@param client vim.lsp.Client
---@return boolean
function M.can_ask(client)
  local commands = vim.tbl_get(client.server_capabilities, "executeCommandProvider", "commands")
  return type(commands) == "table" and vim.list_contains(commands, COMMAND)
end

--- A problem as TypeScript writes it, with lines and UTF-16 offsets from 1, as LSP writes it.
---@param problem table
---@return lsp.Diagnostic
local function diagnostic(problem)
  local function position(at)
    return { line = at.line - 1, character = at.offset - 1 }
  end
  return {
    range = { start = position(problem.start), ["end"] = position(problem["end"]) },
    severity = SEVERITY_OF[problem.category] or SEVERITIES.Information,
    message = problem.text,
    source = type(problem.source) == "string" and problem.source or "typescript",
    code = problem.code,
  }
end

--- The problems of a document as it is now, in a coroutine.
---@param client vim.lsp.Client
---@param bufnr integer
---@param deadline number
---@return lsp.Diagnostic[]? # Nil if TypeScript has not told all of them.
function M.problems(client, bufnr, deadline)
  local requests = vim.tbl_map(function(part)
    local params = { command = COMMAND, arguments = { part, { file = vim.uri_from_bufnr(bufnr) } } }
    return { client = client, method = "workspace/executeCommand", params = params, bufnr = bufnr }
  end, PARTS)
  local found = {}
  for _, reply in ipairs(clients.ask(requests, deadline)) do
    local body = type(reply.result) == "table" and reply.result.type == "response" and reply.result.body
    local ok, items = pcall(vim.tbl_map, diagnostic, body)
    if not body or not ok then
      return nil
    end
    vim.list_extend(found, items)
  end
  return found
end

return M
