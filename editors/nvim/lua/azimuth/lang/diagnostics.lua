--- What language servers say is wrong with documents, and of which text they say it.
---
--- Neovim keeps what a server last published, but not for which version of the document, nor that it published anything where
--- there is nothing wrong. "No problems" and "nothing heard yet" would look alike. So this notes what each client was sent of
--- the documents that it has, and when it spoke of them.

local clients = require("azimuth.lang.clients")
local documents = require("azimuth.lang.documents")

local M = {}

--- A server may speak several times of one text: of its syntax first, of its types then. It has said all when it is silent for
--- half as long as its first word took, and for no less and no more than this, in milliseconds.
local SETTLING_LEAST, SETTLING_MOST = 200, 2000
--- A server that has said nothing of a text for so long, in milliseconds, and is not busy, has nothing to say of it: some are
--- silent where there are no problems. One that has said nothing at all for so long since it came never will: a formatter.
M.PATIENCE = 30000
--- How long is waited for a client to send on a change of the text, in milliseconds.
local SENDING = 500

local PUBLISH = "textDocument/publishDiagnostics"
local PULL = "textDocument/diagnostic"

---@class azimuth.lang.Told
---@field version? integer The last version of the document that the client was sent; nil where that was not seen.
---@field sent number When, in milliseconds of `clients.now`.
---@field about? integer The version that was last published about, if the server says it.
---@field said? number When that was.
---@field first_said? number When it first spoke after it was sent this version.

---@type table<integer, table<string, azimuth.lang.Told>> By the client's id and the document's URI.
local told = {}
---@type table<integer, { came: number, speaks: boolean }> By the client's id: whether it ever published anything.
local speakers = {}
---@type table<table, true> The tables of handlers that note what is published.
local noting = setmetatable({}, { __mode = "k" })
local watches = false

-- Noting ------------------------------------------------------------------------------------------------------------

---@param client vim.lsp.Client
local function note_published(client)
  local handlers = client.handlers
  if noting[handlers] then
    return
  end
  noting[handlers] = true
  local own = handlers[PUBLISH]
  handlers[PUBLISH] = function(err, params, context, ...)
    local uri = type(params) == "table" and type(params.uri) == "string" and documents.normal(params.uri)
    local document = uri and vim.tbl_get(told, context.client_id, uri)
    if speakers[context.client_id] then
      speakers[context.client_id].speaks = true
    end
    if document then
      document.said, document.about = clients.now(), tonumber(params.version)
      document.first_said = document.first_said or document.said
    end
    return (own or vim.lsp.handlers[PUBLISH])(err, params, context, ...)
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return azimuth.lang.Told
local function note_document(client, bufnr)
  local uri = documents.normal(vim.uri_from_bufnr(bufnr))
  speakers[client.id] = speakers[client.id] or { came = clients.now(), speaks = false }
  told[client.id] = told[client.id] or {}
  told[client.id][uri] = told[client.id][uri] or { sent = clients.now() }
  return told[client.id][uri]
end

--- Begins to note, of the clients that there are and of those that come.
function M.watch()
  if watches then
    return
  end
  watches = true
  local group = vim.api.nvim_create_augroup("azimuth.diagnostics", { clear = true })
  vim.api.nvim_create_autocmd("LspAttach", {
    group = group,
    callback = function(args)
      local client = vim.lsp.get_client_by_id(args.data.client_id)
      if client then
        note_published(client)
        note_document(client, args.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd("LspNotify", {
    group = group,
    callback = function(args)
      local method, params = args.data.method, args.data.params
      local known = told[args.data.client_id]
      if not known or not vim.startswith(method, "textDocument/did") then
        return
      end
      local uri = documents.normal(params.textDocument.uri)
      if method == "textDocument/didClose" then
        known[uri] = nil
      elseif known[uri] and method ~= "textDocument/didSave" then
        known[uri].version, known[uri].sent = params.textDocument.version, clients.now()
        known[uri].first_said = nil
      end
    end,
  })
  vim.api.nvim_create_autocmd("LspDetach", {
    group = group,
    callback = function(args)
      local known = told[args.data.client_id]
      if known then
        known[documents.normal(vim.uri_from_bufnr(args.buf))] = nil
        told[args.data.client_id] = next(known) and known or nil
      end
    end,
  })
  for _, client in ipairs(vim.lsp.get_clients()) do
    note_published(client)
    for bufnr in pairs(client.attached_buffers) do
      -- What it has said of its documents until now is what Neovim has.
      note_document(client, bufnr).said = clients.now()
    end
  end
end

-- Telling -----------------------------------------------------------------------------------------------------------

---@param document azimuth.lang.Told
---@return boolean # Whether the last that was published is about the text that the client was sent last.
local function is_of_now(document)
  if not document.said then
    return false
  elseif document.about and document.version then
    return document.about >= document.version
  end
  return document.said >= document.sent
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return azimuth.lang.Told?
local function document_of(client, bufnr)
  return vim.tbl_get(told, client.id, documents.normal(vim.uri_from_bufnr(bufnr)))
end

--- The version of a document that a client was sent last. Neovim counts for all clients together, and 0.10 begins anew for all
--- with each client that comes.
---@param client_id integer
---@param bufnr integer
---@return integer?
function M.version(client_id, bufnr)
  local uri = documents.normal(vim.uri_from_bufnr(bufnr))
  return vim.tbl_get(told, client_id, uri, "version") or vim.lsp.util.buf_versions[bufnr]
end

---@class azimuth.lang.Published
---@field client vim.lsp.Client
---@field diagnostics? lsp.Diagnostic[] Nil where the server has not spoken of the text as it is now.
---@field is_exact boolean Whether the server says that it is of this version.

--- What clients publish about a document as it is now, waited for, in a coroutine.
---@param publishers vim.lsp.Client[]
---@param bufnr integer
---@param deadline number
---@return azimuth.lang.Published[]
function M.published(publishers, bufnr, deadline)
  local began = clients.now()
  vim.tbl_map(clients.flush, publishers)

  local function is_settled(client)
    local document, now = document_of(client, bufnr), clients.now()
    if not document or clients.has_ended(client) then
      return true
    end
    local version = vim.lsp.util.buf_versions[bufnr]
    if document.version and version and document.version < version and now < began + SENDING then
      return false
    elseif clients.busy_with(client) then
      return false
    elseif is_of_now(document) then
      local took = document.first_said and document.first_said - document.sent or 0
      return now >= document.said + math.min(math.max(took / 2, SETTLING_LEAST), SETTLING_MOST)
    end
    local speaker = speakers[client.id]
    local waited = speaker.speaks and document.sent or speaker.came
    return now >= waited + M.PATIENCE
  end

  clients.waiter().wait(deadline, function()
    return vim.iter(publishers):all(is_settled)
  end)
  return vim.tbl_map(function(client)
    local document = document_of(client, bufnr)
    local is_known = not document or is_of_now(document) or is_settled(client)
    return {
      client = client,
      diagnostics = is_known and M.kept(client, bufnr) or nil,
      is_exact = document ~= nil and document.about ~= nil and is_of_now(document),
    }
  end, publishers)
end

--- The documents that a client has, and of whose text, as it is now, it has spoken.
---@param client vim.lsp.Client
---@return string[] uris
function M.spoken_of(client)
  local uris = {}
  for uri, document in pairs(told[client.id] or {}) do
    if is_of_now(document) then
      table.insert(uris, uri)
    end
  end
  return uris
end

--- What a client can be asked about a document, if it can be asked: a server may be several providers in one.
---@param client vim.lsp.Client
---@param bufnr integer
---@return azimuth.lang.Request[]
function M.pulls(client, bufnr)
  if not clients.supports(client, PULL, bufnr) then
    return {}
  end
  local provider = client.server_capabilities.diagnosticProvider
  local identifier = type(provider) == "table" and provider.identifier or nil
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, identifier = identifier }
  return { { client = client, method = PULL, params = params, bufnr = bufnr } }
end

--- What Neovim keeps of what a client published: of one document, or of all.
---@param client vim.lsp.Client
---@param bufnr? integer
---@param with_pulled? boolean Whether what Neovim has asked the client itself is wanted, too.
---@return lsp.Diagnostic[], integer[] buffers Where each belongs.
function M.kept(client, bufnr, with_pulled)
  local found, buffers = {}, {}
  local own = vim.lsp.diagnostic.get_namespace(client.id)
  local names = vim.api.nvim_get_namespaces()
  local published
  for each, id in pairs(names) do
    published = id == own and each or published
  end
  for each, namespace in pairs(names) do
    local is_pulled = published and vim.startswith(each, published .. ".")
    if namespace == own or (with_pulled and is_pulled) then
      for _, diagnostic in ipairs(vim.diagnostic.get(bufnr, { namespace = namespace })) do
        local said = vim.tbl_get(diagnostic, "user_data", "lsp")
        if said then
          table.insert(found, said)
          table.insert(buffers, diagnostic.bufnr)
        end
      end
    end
  end
  return found, buffers
end

return M
