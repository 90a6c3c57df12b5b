--- Answers `azimuth/editor/query`: passes a question about code to the language servers that the editor runs, ours excepted,
--- and tells what they say, how far it can be relied on, and who said it.
---
--- Nothing here holds up the editor, and nothing is changed by asking.

local arrivals = require("azimuth.lang.arrivals")
local clients = require("azimuth.lang.clients")
local diagnostics = require("azimuth.lang.diagnostics")
local documents = require("azimuth.lang.documents")
local edits = require("azimuth.lang.edits")
local places = require("azimuth.lang.places")
local problems = require("azimuth.lang.problems")
local questions = require("azimuth.lang.question")

local M = {}

--- Gives the answer, or the whole result where the answer is not all that there is to say.
---@alias azimuth.lang.Answerer fun(question: azimuth.lang.Question): azimuth.LangAnswer?, azimuth.LangResult?

---@type table<string, azimuth.lang.Answerer> By the type of the query.
local answers = {
  definition = places.definition,
  typeDefinition = places.typeDefinition,
  implementation = places.implementation,
  references = places.references,
  hover = places.hover,
  documentSymbols = places.documentSymbols,
  workspaceSymbols = places.workspaceSymbols,
  incomingCalls = places.incomingCalls,
  outgoingCalls = places.outgoingCalls,
  supertypes = places.supertypes,
  subtypes = places.subtypes,
  rename = edits.rename,
  moveFile = edits.moveFile,
  format = edits.format,
  diagnostics = problems.diagnostics,
  codeActions = problems.codeActions,
  codeAction = problems.codeAction,
  servers = function(question)
    question.servers = question.clients
    return { type = "nothing" }
  end,
}

--- The queries whose answers are changes of files, and about the texts as they are when it is asked.
local edits_files = { rename = true, moveFile = true, format = true, codeAction = true }

--- Waits until it is known whom a question can go to. Clients that are still starting get half of the time, where others wait.
---@param question azimuth.lang.Question
---@return vim.lsp.Client[] starting Those for which there was no time.
---@return azimuth.LangResult? result Why nobody can be asked.
local function find_clients(question)
  local bufnr = question.document and question.document.bufnr
  local half = question.began + (question.deadline - question.began) / 2
  local found, is_found, may_come
  clients.waiter().wait(question.deadline, function()
    found = clients.others(question.own, bufnr)
    local now = clients.now()
    is_found = vim.iter(found.ready):any(function(client)
      return question:can_ask(client)
    end)
    may_come = not is_found and bufnr ~= nil and now < arrivals.latest(bufnr)
    if #found.starting > 0 then
      return is_found and now >= half
    end
    return not may_come
  end)
  question.clients = found.ready
  if is_found then
    return found.starting, nil
  elseif #found.starting > 0 then
    return found.starting, questions.without_answer("timedOut", "The language server is still starting.", found.starting)
  elseif may_come then
    return {}, questions.without_answer("indexing", "A language server may still come to the document.")
  end
  if bufnr then
    arrivals.note_none(bufnr)
  end
  -- Those that are there say themselves that they cannot.
  return {}, #found.ready == 0 and questions.without_answer("noServer", nil) or nil
end

--- Tells all clients of a question what is held back, ours too: an answer is about the text that our server was told last. Neovim
--- sends to some of them together, and to others apart.
---@param question azimuth.lang.Question
local function flush(question)
  local own = vim.lsp.get_client_by_id(question.own)
  if own then
    clients.flush(own)
  end
  vim.tbl_map(clients.flush, question.clients)
end

---@param own integer The id of our client.
---@return table<string, integer> # What our server was told last, by URI.
local function versions_of_open_documents(own)
  local versions = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.lsp.buf_is_attached(bufnr, own) then
      versions[documents.normal(vim.uri_from_bufnr(bufnr))] = diagnostics.version(own, bufnr)
    end
  end
  return versions
end

---@param question azimuth.lang.Question
---@return azimuth.LangResult
local function answer(question)
  local starting, without = find_clients(question)
  if without then
    return without
  end
  flush(question)
  clients.hear_what_was_sent(question.deadline)
  local bufnr = question.document and question.document.bufnr
  if bufnr and not vim.api.nvim_buf_is_loaded(bufnr) then
    return questions.without_answer("failed", "The document was closed in the meantime.", question.clients)
  end
  -- Somebody may have typed meanwhile. From here to the request nobody can.
  flush(question)
  question.versions = versions_of_open_documents(question.own)
  question.version = question.uri and question.versions[documents.normal(question.uri)]
  if question.uri and not question.version and edits_files[question.query.type] then
    question.lines:hash(question.uri)
  end
  local reply, other = answers[question.query.type](question)
  if other then
    other.version = other.version or question.version
    return other
  end
  if #question.servers > 0 then
    for _, client in ipairs(starting) do
      table.insert(question.servers, client)
      question:note({ client = client, problem = "timedOut", message = "it is still starting" })
    end
  end
  return question:result(reply)
end

--- The document that a question is about. A folder that is moved is none.
---@param query azimuth.LangQuery
---@return string?
local function document_uri(query)
  if query.type ~= "moveFile" then
    return query.uri
  end
  local ok, path = pcall(vim.uri_to_fname, query.from)
  return not (ok and vim.fn.isdirectory(path) == 1) and query.from or nil
end

--- Answers a question. Is called in a coroutine, as Neovim calls all handlers of requests.
---@param params azimuth.EditorQueryParams
---@param own integer The id of our own client.
---@return azimuth.LangResult
function M.answer(params, own)
  local query = params.query
  if not answers[query.type] then
    return questions.without_answer("unsupported", "This plugin does not know such questions.")
  elseif vim.in_fast_event() then
    return questions.without_answer("editorBusy", "Neovim cannot answer just now.")
  end
  diagnostics.watch()
  local question = questions.new(params, own)
  local uri = document_uri(query)
  if uri then
    local document, status, message = documents.take(uri)
    if not document then
      return questions.without_answer(status --[[@as azimuth.LangStatus]], message)
    end
    question.document, question.uri = document, vim.uri_from_bufnr(document.bufnr)
  end
  local ok, found = xpcall(answer, debug.traceback, question)
  if question.document then
    documents.release(question.document.bufnr)
  end
  if not ok then
    vim.lsp.log.error("azimuth", query.type, found)
    return questions.without_answer("failed", "The plugin failed: " .. vim.split(found, "\n")[1], question.clients)
  end
  return found
end

return M
