--- Answers about problems, and about what can be done: diagnostics and code actions.

local clients = require("azimuth.lang.clients")
local convert = require("azimuth.lang.convert")
local diagnostics = require("azimuth.lang.diagnostics")
local documents = require("azimuth.lang.documents")
local questions = require("azimuth.lang.question")
local ranges = require("azimuth.lang.ranges")
local typescript = require("azimuth.lang.typescript")

local M = {}

--- How long is waited for the problems that actions are asked with, in milliseconds.
M.CONTEXT = 1000

---@param question azimuth.lang.Question
---@return integer? # Of the question's document as it is now, if it is open.
local function current_version(question)
  return question.version and diagnostics.version(question.own, question.document.bufnr)
end

--- Returns the problems that clients report in the question's document.
---@param question azimuth.lang.Question
---@param asked vim.lsp.Client[]
---@param deadline number
---@return table<integer, lsp.Diagnostic[]> # By the client's id; none for one that has not said anything yet.
---@return table<integer, integer> versions By the client's id, where they are known.
local function problems(question, asked, deadline)
  local bufnr = question.document.bufnr
  local found, versions, pulls, publishers, askable = {}, {}, {}, {}, {}
  for _, client in ipairs(asked) do
    local own = diagnostics.pulls(client, bufnr)
    vim.list_extend(pulls, own)
    if #own == 0 and typescript.can_ask(client) then
      table.insert(askable, client)
    elseif #own == 0 then
      table.insert(publishers, client)
    end
  end
  local function pull(requests)
    local version = current_version(question)
    for _, reply in ipairs(clients.ask(requests, deadline)) do
      local items = question:understood(reply, function(with)
        return with:first(reply.result and reply.result.items)
      end)
      if items then
        local id = reply.client.id
        -- A server that can be asked may publish as well what it finds out on its own.
        found[id] = vim.list_extend(diagnostics.known(reply.client, bufnr), items)
        versions[id] = version
      end
    end
  end
  pull(pulls)
  for _, client in ipairs(askable) do
    local version = current_version(question)
    found[client.id] = typescript.problems(client, bufnr, deadline)
    if found[client.id] then
      versions[client.id] = version
    else
      table.insert(publishers, client)
    end
  end
  local late = {}
  for _, published in ipairs(diagnostics.published(publishers, bufnr, deadline)) do
    local own = diagnostics.pulls(published.client, bufnr)
    if #own > 0 then
      vim.list_extend(late, own)
    else
      found[published.client.id] = published.diagnostics
      -- Other clients may count otherwise than ours does.
      versions[published.client.id] = published.is_exact and current_version(question) or nil
      if published.problem then
        question:note(published)
      elseif published.doubt then
        question:doubt(("%s: %s"):format(published.client.name, published.doubt))
      end
    end
  end
  -- Some say that they can be asked only a while after they came.
  pull(late)
  return found, versions
end

---@param list azimuth.LangDiagnostic[]
local function sort_by_place(list)
  table.sort(list, function(a, b)
    return ranges.is_first(a.range, b.range)
  end)
end

--- Returns the known problems of a client in all documents but those whose text has changed since, by their URIs.
---@param client vim.lsp.Client
---@return table<string, lsp.Diagnostic[]> by_uri Empty ones are of documents that have no problems.
---@return boolean is_all Whether none was left out.
local function known_of(client)
  local spoken, old = diagnostics.spoken_of(client)
  local by_uri, is_all = {}, true
  for _, uri in ipairs(spoken) do
    by_uri[uri] = {}
  end
  local function add(kept, buffers, is_left_out)
    for at, diagnostic in ipairs(kept) do
      local uri = documents.normal(vim.uri_from_bufnr(buffers[at]))
      if is_left_out(uri) then
        is_all = false
      else
        by_uri[uri] = by_uri[uri] or {}
        table.insert(by_uri[uri], diagnostic)
      end
    end
  end
  local published, of = diagnostics.kept(client)
  add(published, of, function(uri)
    return old[uri]
  end)
  local pulled, pulled_of = diagnostics.pulled(client)
  add(pulled, pulled_of, function()
    return false
  end)
  return by_uri, is_all
end

--- All that is known, of all documents. Nobody is waited for, and of most files of a project nobody may have said anything.
---@param question azimuth.lang.Question
---@return azimuth.LangAnswer
local function all_diagnostics(question)
  question.servers = question.clients
  question:doubt("This is what the language servers have said until now; of files that are not open that may be nothing.")
  local by_uri, count = {}, 0
  for _, client in ipairs(question.clients) do
    local known, is_all = known_of(client)
    if not is_all then
      question:doubt(("%s has not spoken yet of all texts as they are now."):format(client.name))
    end
    -- Of too many, always the same are told.
    local uris = vim.tbl_keys(known)
    table.sort(uris)
    for _, uri in ipairs(uris) do
      if count >= question.limit then
        question:cut()
        break
      end
      count = count + #known[uri]
      local read = question:understood({ client = client }, function(with)
        return with:diagnostics(uri, known[uri])
      end)
      by_uri[uri] = vim.list_extend(by_uri[uri] or {}, read or {})
    end
  end
  local uris = vim.tbl_keys(by_uri)
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
  local items = question:collection(function(diagnostic)
    return questions.place_key(diagnostic.message, diagnostic.range) .. (diagnostic.source or "")
  end)
  local of = {}
  for _, client in ipairs(question.clients) do
    if found[client.id] then
      items.add(question:understood({ client = client }, function(with)
        return with:diagnostics(question.uri, found[client.id])
      end))
      of[versions[client.id] or "unknown"] = true
    end
  end
  sort_by_place(items.items)
  local version = vim.tbl_count(of) == 1 and tonumber((next(of))) or nil
  local document = { uri = question.uri, version = version, diagnostics = items.items }
  return { type = "diagnostics", documents = { document } }
end

--- The actions for a part of a document, as the clients say them.
---@param question azimuth.lang.Question
---@return { client: vim.lsp.Client, action: table }[]
local function actions(question)
  local asked = question:able()
  -- Quick fixes are for the problems that they are asked with.
  local bufnr = question.document.bufnr
  local troubles, doubts = vim.list_slice(question.troubles), vim.list_slice(question.doubts)
  local found = problems(question, asked, math.min(question.deadline, clients.now() + M.CONTEXT))
  question.troubles, question.doubts = troubles, doubts
  local requests = vim.tbl_map(function(client)
    local range = question:reader(client):their_range(question.uri, question.query.range)
    local there = vim.tbl_filter(function(diagnostic)
      local ok, touches = pcall(ranges.touch, diagnostic.range, range)
      return ok and touches
    end, found[client.id] or vim.list_extend(diagnostics.kept(client, bufnr), (diagnostics.pulled(client, bufnr))))
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
  local found = question:collection(function(action)
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
