--- The problems that language servers report in documents, and the texts that they report them for.
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
--- How long after a change of another document of its a server may change what it says of one, in milliseconds.
local ELSEWHERE = 1500
--- A server that has said nothing of a text for so long, in milliseconds, and is not busy, has nothing to say of it: some are
--- silent where there are no problems. One that has said nothing at all for so long since it came never will: a formatter.
M.PATIENCE = 30000
--- How long is waited for a client to send on a change of the text, in milliseconds.
local SENDING = 500

local PUBLISH = "textDocument/publishDiagnostics"
local PULL = "textDocument/diagnostic"

---@class azimuth.lang.Told
---@field version? integer The last version of the document that the client was sent; nil if that was not seen.
---@field sent number When, in milliseconds of `clients.now`.
---@field about? integer The version that was last published about, if the server says it.
---@field said? number When that was.
---@field first_said? number When it first spoke after it was sent this version.
---@field is_first boolean Whether the client was sent no other text of it, so that nothing it says can be of another.

---@type table<integer, table<string, azimuth.lang.Told>> By the client's id and the document's URI.
local told = {}
---@class azimuth.lang.Speaker
---@field came number When it came, in milliseconds of `clients.now`.
---@field speaks boolean Whether it ever published anything.
---@field changed number When it was last sent a change of any document.

---@type table<integer, azimuth.lang.Speaker> By the client's id.
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
  local uri, now = documents.normal(vim.uri_from_bufnr(bufnr)), clients.now()
  speakers[client.id] = speakers[client.id] or { came = now, speaks = false, changed = now }
  told[client.id] = told[client.id] or {}
  told[client.id][uri] = told[client.id][uri] or { sent = now, is_first = true }
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
        local document, now = known[uri], clients.now()
        document.version, document.sent, document.first_said = params.textDocument.version, now, nil
        document.is_first = document.is_first and method == "textDocument/didOpen"
        speakers[args.data.client_id].changed = now
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
      -- The problems that Neovim has of its documents are what it has said until now, and may be of former texts.
      local document = note_document(client, bufnr)
      document.said, document.is_first = clients.now(), false
    end
  end
end

-- Telling -----------------------------------------------------------------------------------------------------------

---@param document azimuth.lang.Told
---@return boolean # Whether the last that was published is about the text that the client was sent last, as far as can be known.
local function is_of_now(document)
  if not document.said then
    return false
  elseif document.about and document.version then
    return document.about == document.version
  end
  return document.said >= document.sent
end

--- True if what was published is certainly about the text as it is now. A server that does not say of which version it speaks may
--- have begun with the one before; but had it, it would have spoken again.
---@param document azimuth.lang.Told
---@return boolean
local function is_certain(document)
  return (document.about ~= nil and document.version ~= nil)
    or document.is_first
    or clients.now() >= math.max(document.sent, document.said or 0) + M.PATIENCE
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return azimuth.lang.Told?
local function document_of(client, bufnr)
  return vim.tbl_get(told, client.id, documents.normal(vim.uri_from_bufnr(bufnr)))
end

--- The version of a document that our own server was sent last, which is that of its text as it is now: what was held back is
--- sent first.
---@param own integer The id of our client.
---@param bufnr integer
---@return integer?
function M.version(own, bufnr)
  local client = vim.lsp.get_client_by_id(own)
  if client then
    clients.flush(client)
  end
  -- Neovim counts for all clients together, and 0.10 begins anew for all with each client that comes. What was sent just now is
  -- not noted yet, but counted.
  local noted = vim.tbl_get(told, own, documents.normal(vim.uri_from_bufnr(bufnr)), "version")
  local counted = vim.lsp.util.buf_versions[bufnr]
  return noted and counted and math.max(noted, counted) or noted or counted
end

---@class azimuth.lang.Published
---@field client vim.lsp.Client
---@field diagnostics? lsp.Diagnostic[] Nil if the server has not spoken of the text as it is now.
---@field is_exact boolean Whether the server says that it is of this version.
---@field doubt? string Why they may be of an older text after all.
---@field problem? "failed"|"crashed"|"timedOut" Why there are none.
---@field message? string

--- How long a server has to be silent after what it said of a document, in milliseconds.
---@param document azimuth.lang.Told
---@return number
local function settling(document)
  local took = document.first_said and document.first_said - document.sent or 0
  return math.min(math.max(took / 2, SETTLING_LEAST), SETTLING_MOST)
end

--- True if there is nothing more to wait for from a client.
---@param client vim.lsp.Client
---@param bufnr integer
---@param began number When waiting began.
---@return boolean
local function is_settled(client, bufnr, began)
  local document, now = document_of(client, bufnr), clients.now()
  if not document or clients.has_ended(client) or clients.supports(client, PULL, bufnr) then
    return true
  end
  local version = vim.lsp.util.buf_versions[bufnr]
  if document.version and version and document.version < version and now < began + SENDING then
    return false
  elseif clients.busy_with(client) then
    return false
  end
  local speaker = speakers[client.id]
  if is_of_now(document) then
    return now >= document.said + settling(document)
      and (speaker.changed <= document.said or now >= speaker.changed + ELSEWHERE)
  end
  return now >= (speaker.speaks and document.sent or speaker.came) + M.PATIENCE
end

--- Returns what a client has published about a document as it is now.
---@param client vim.lsp.Client
---@param bufnr integer
---@param began number
---@return azimuth.lang.Published
local function published(client, bufnr, began)
  local document = document_of(client, bufnr)
  if clients.has_ended(client) then
    return { client = client, is_exact = false, problem = "crashed", message = "it ended while it was asked" }
  elseif not document then
    return { client = client, is_exact = false, problem = "failed", message = "it has let go of the document" }
  elseif is_of_now(document) then
    local doubt
    if not is_settled(client, bufnr, began) then
      doubt = "it may not have said all yet"
    elseif not is_certain(document) then
      doubt = "it does not say of which version of the text its problems are"
    end
    local is_exact = document.about ~= nil and document.about == document.version
    return { client = client, diagnostics = M.kept(client, bufnr), is_exact = is_exact, doubt = doubt }
  end
  local kept = M.kept(client, bufnr)
  if is_settled(client, bufnr, began) then
    local doubt = #kept > 0 and "it has not spoken since the text was changed" or nil
    return { client = client, diagnostics = kept, is_exact = false, doubt = doubt }
  end
  return { client = client, is_exact = false, problem = "timedOut", message = "it has not spoken of the text as it is now" }
end

--- Waits for what clients publish about a document as it is now, in a coroutine. One that says in the meantime that it can be
--- asked is waited for no longer: such a one mostly publishes nothing.
---@param publishers vim.lsp.Client[]
---@param bufnr integer
---@param deadline number
---@return azimuth.lang.Published[]
function M.published(publishers, bufnr, deadline)
  local began = clients.now()
  vim.tbl_map(clients.flush, publishers)
  clients.hear_what_was_sent(deadline)
  clients.waiter().wait(deadline, function()
    return vim.iter(publishers):all(function(client)
      return is_settled(client, bufnr, began)
    end)
  end)
  return vim.tbl_map(function(client)
    return published(client, bufnr, began)
  end, publishers)
end

--- The documents that a client has: of whose text, as it is now, it has spoken, and of which what it said is old.
---@param client vim.lsp.Client
---@return string[] uris
---@return table<string, true> old
function M.spoken_of(client)
  local uris, old = {}, {}
  for uri, document in pairs(told[client.id] or {}) do
    if is_of_now(document) then
      table.insert(uris, uri)
    else
      old[uri] = true
    end
  end
  return uris, old
end

--- Returns the requests for a document's problems, if a client can be asked: a server may be several providers in one.
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

--- The namespaces of what a client published, and of what Neovim itself has asked it.
---@param client vim.lsp.Client
---@return integer published
---@return integer[] pulled
local function namespaces(client)
  local own = vim.lsp.diagnostic.get_namespace(client.id)
  local names = vim.api.nvim_get_namespaces()
  local own_name
  for name, id in pairs(names) do
    own_name = id == own and name or own_name
  end
  local pulled = {}
  for name, id in pairs(names) do
    if own_name and vim.startswith(name, own_name .. ".") then
      table.insert(pulled, id)
    end
  end
  return own, pulled
end

---@param of integer[] Namespaces.
---@param bufnr? integer
---@return lsp.Diagnostic[], integer[] buffers
local function kept_in(of, bufnr)
  local found, buffers = {}, {}
  for _, namespace in ipairs(of) do
    for _, diagnostic in ipairs(vim.diagnostic.get(bufnr, { namespace = namespace })) do
      local said = vim.tbl_get(diagnostic, "user_data", "lsp")
      if said then
        table.insert(found, said)
        table.insert(buffers, diagnostic.bufnr)
      end
    end
  end
  return found, buffers
end

--- Returns the problems that Neovim keeps of those that a client published: of one document, or of all.
---@param client vim.lsp.Client
---@param bufnr? integer
---@return lsp.Diagnostic[], integer[] buffers Where each belongs.
function M.kept(client, bufnr)
  return kept_in({ (namespaces(client)) }, bufnr)
end

--- Returns the problems that Neovim keeps of those that it has asked a client for itself.
---@param client vim.lsp.Client
---@param bufnr? integer
---@return lsp.Diagnostic[], integer[] buffers Where each belongs.
function M.pulled(client, bufnr)
  local _, pulled = namespaces(client)
  return kept_in(pulled, bufnr)
end

--- Returns the problems that a client has published of a document as it is now, as far as is known without waiting.
---@param client vim.lsp.Client
---@param bufnr integer
---@return lsp.Diagnostic[]
function M.known(client, bufnr)
  local document = document_of(client, bufnr)
  return document and is_of_now(document) and M.kept(client, bufnr) or {}
end

return M
