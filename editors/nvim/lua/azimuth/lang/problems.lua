--- Answers about problems, and about what can be done: diagnostics and code actions.

local clients = require("azimuth.lang.clients")
local convert = require("azimuth.lang.convert")
local diagnostics = require("azimuth.lang.diagnostics")
local documents = require("azimuth.lang.documents")
local questions = require("azimuth.lang.question")

local M = {}

--- How long is waited for the problems that actions are asked with, in milliseconds.
M.CONTEXT = 1000

---@param question azimuth.lang.Question
---@return integer? # Of the question's document as it is now, if it is open.
local function current_version(question)
  return question.version and diagnostics.version(question.own, question.document.bufnr)
end

--- What clients say is wrong with the question's document.
---@param question azimuth.lang.Question
---@param asked vim.lsp.Client[]
---@param deadline number
---@return table<integer, lsp.Diagnostic[]> # By the client's id; none for one that has not said anything yet.
---@return table<integer, integer> versions By the client's id, where they are known.
local function problems(question, asked, deadline)
  local bufnr = question.document.bufnr
  local found, versions, pulls, publishers = {}, {}, {}, {}
  for _, client in ipairs(asked) do
    local own = diagnostics.pulls(client, bufnr)
    vim.list_extend(pulls, own)
    if #own == 0 then
      table.insert(publishers, client)
    end
  end
  for _, reply in ipairs(clients.ask(pulls, deadline)) do
    local items = question:understood(reply, function()
      return convert.list(reply.result and reply.result.items)
    end)
    if items then
      local id = reply.client.id
      -- A server that can be asked may publish as well what it finds out on its own.
      found[id] = vim.list_extend(diagnostics.kept(reply.client, bufnr), items)
      versions[id] = question.version
    end
  end
  for _, published in ipairs(diagnostics.published(publishers, bufnr, deadline)) do
    found[published.client.id] = published.diagnostics
    -- Other clients may count otherwise than ours does.
    versions[published.client.id] = published.is_exact and current_version(question) or nil
    if not published.diagnostics then
      question:note({ client = published.client, problem = "timedOut", message = "it has not spoken of the text as it is now" })
    end
  end
  return found, versions
end

---@param list azimuth.LangDiagnostic[]
local function sort_by_place(list)
  table.sort(list, function(a, b)
    local first, second = a.range.start, b.range.start
    return first.line < second.line or (first.line == second.line and first.character < second.character)
  end)
end

--- All that is known, of all documents.
---@param question azimuth.lang.Question
---@return azimuth.LangAnswer
local function all_diagnostics(question)
  question.servers = question.clients
  local by_uri, uris, count = {}, {}, 0
  for _, client in ipairs(question.clients) do
    local kept, buffers = diagnostics.kept(client, nil, true)
    for at, diagnostic in ipairs(kept) do
      if count >= questions.MAX_MANY then
        question.is_cut = true
        break
      end
      local uri = documents.normal(vim.uri_from_bufnr(buffers[at]))
      local read = question:understood({ client = client }, function(with)
        return with:diagnostics(uri, { diagnostic })
      end)
      if not by_uri[uri] then
        by_uri[uri] = {}
        table.insert(uris, uri)
      end
      vim.list_extend(by_uri[uri], read or {})
      count = count + 1
    end
    for _, uri in ipairs(diagnostics.spoken_of(client)) do
      if not by_uri[uri] then
        by_uri[uri] = {}
        table.insert(uris, uri)
      end
    end
  end
  table.sort(uris)
  return {
    type = "diagnostics",
    documents = vim.tbl_map(function(uri)
      sort_by_place(by_uri[uri])
      return { uri = uri, diagnostics = by_uri[uri] }
    end, uris),
  }
end

function M.diagnostics(question)
  if not question.document then
    return all_diagnostics(question)
  end
  question.servers = question.clients
  local found, versions = problems(question, question.clients, question.deadline)
  question.version = current_version(question)
  local items = question:collection(questions.MAX_MANY, function(diagnostic)
    return questions.place_key(diagnostic.message, diagnostic.range) .. (diagnostic.source or "")
  end)
  local version, differs
  for _, client in ipairs(question.clients) do
    if found[client.id] then
      items.add(question:understood({ client = client }, function(with)
        return with:diagnostics(question.uri, found[client.id])
      end))
      differs = differs or (version ~= nil and versions[client.id] ~= version)
      version = version or versions[client.id]
    end
  end
  sort_by_place(items.items)
  local document = { uri = question.uri, version = not differs and version or nil, diagnostics = items.items }
  return { type = "diagnostics", documents = { document } }
end

---@param a lsp.Range
---@param b lsp.Range
---@return boolean
local function touch(a, b)
  local function is_after(one, other)
    return one.line > other.line or (one.line == other.line and one.character > other.character)
  end
  return not is_after(a.start, b["end"]) and not is_after(b.start, a["end"])
end

--- The actions for a part of a document, as the clients say them.
---@param question azimuth.lang.Question
---@return { client: vim.lsp.Client, action: table }[]
local function actions(question)
  local asked = question:able("textDocument/codeAction")
  -- Quick fixes are for the problems that they are asked with.
  local before = vim.list_slice(question.troubles)
  local found = problems(question, asked, math.min(question.deadline, clients.now() + M.CONTEXT))
  question.troubles = before
  local requests = vim.tbl_map(function(client)
    local range = question:reader(client):their_range(question.uri, question.query.range)
    local there = vim.tbl_filter(function(diagnostic)
      local ok, touches = pcall(touch, diagnostic.range, range)
      return ok and touches
    end, found[client.id] or diagnostics.kept(client, question.document.bufnr, true))
    return question:request(client, "textDocument/codeAction", {
      textDocument = { uri = question.uri },
      range = range,
      context = { diagnostics = there, only = question.query.kind and { question.query.kind } or nil, triggerKind = 1 },
    })
  end, asked)
  local all = {}
  for _, reply in ipairs(clients.ask(requests, question.deadline)) do
    for _, action in ipairs(question:listed(reply)) do
      if convert.is_of_kind(action, question.query.kind) then
        table.insert(all, { client = reply.client, action = action })
      end
    end
  end
  return all
end

---@param question azimuth.lang.Question
---@param client vim.lsp.Client
---@return boolean
local function resolves(question, client)
  return clients.supports(client, "codeAction/resolve", question.document.bufnr)
end

function M.codeActions(question)
  local found = question:collection(questions.MAX_ITEMS, function(action)
    return action.title .. "\n" .. (action.kind or "")
  end)
  for _, each in ipairs(actions(question)) do
    found.add({ question:understood({ client = each.client }, function()
      return convert.action(each.action, not resolves(question, each.client))
    end) })
  end
  return { type = "actions", actions = found.items }
end

function M.codeAction(question)
  local all = actions(question)
  if #question.troubles == #question.servers then
    return { type = "nothing" }
  end
  local chosen
  for _, each in ipairs(all) do
    local ok, title = pcall(convert.title, each.action)
    if ok and title == question.query.title then
      chosen = each
      break
    end
  end
  if not chosen then
    return nil, questions.without_answer("failed", ("There is no action %q here."):format(question.query.title), question.servers)
  end
  local client, action = chosen.client, chosen.action
  question.servers, question.troubles = { client }, {}
  if not convert.is_command(action) and not action.edit and not action.disabled and resolves(question, client) then
    local reply = clients.ask({ question:request(client, "codeAction/resolve", action) }, question.deadline)[1]
    if reply.problem then
      question:note(reply)
      return { type = "nothing" }
    end
    action = reply.result or action
  end
  local told = convert.action(action, true)
  if told.disabled then
    return nil, questions.without_answer("unsupported", told.disabled, { client })
  elseif action.command then
    return nil, questions.without_answer("unsupported", "It edits and runs a command of the language server, too.", { client })
  end
  local changes = question:understood({ client = client }, function(with)
    return with:edit(action.edit)
  end)
  return { type = "edit", changes = changes or {} }
end

return M
