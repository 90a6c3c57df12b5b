--- Conversion between what language clients speak and what `azimuth/editor/query` speaks, in both directions.
---
--- A client counts in UTF-8, UTF-16 or UTF-32, and Azimuth in UTF-16. An answer that is not what LSP says raises an error.

local documents = require("azimuth.lang.documents")
local positions = require("azimuth.position")
local ranges = require("azimuth.lang.ranges")
local text = require("azimuth.text")

local M = {}

--- The largest number in a position, LSP's `uinteger`.
local MAX_NUMBER = 2 ^ 31 - 1
--- The largest text that is taken from a server, in bytes.
local MAX_TEXT = 64 * 1024
--- The limits of an edit: steps and replaced parts together, and bytes of new text.
local MAX_EDITS, MAX_NEW_TEXT = 20000, 16 * 1024 * 1024

-- Positions ---------------------------------------------------------------------------------------------------------

---@class azimuth.lang.Lines The texts of documents, as clients know them; each is looked for once.
---@field buffers table<string, integer> The loaded buffers, by URI.
---@field files table<string, integer> The loaded buffers, by their files: see `documents.loaded`.
---@field read table<string, string[]> The lines of files that are in none.
---@field hashes table<string, string> Of the texts whose hash was asked for.
local Lines = {}
Lines.__index = Lines

---@return azimuth.lang.Lines
function M.lines()
  return setmetatable({ buffers = {}, files = {}, read = {}, hashes = {} }, Lines)
end

---@param uri string
---@return string[]? lines Nil for what cannot be read.
local function lines_of_file(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  local stat = ok and vim.uv.fs_stat(path)
  local file = stat and stat.type == "file" and stat.size <= documents.MAX_BYTES and io.open(path, "rb")
  if not file then
    return nil
  end
  local lines = vim.split(file:read("*a"), "\n", { plain = true })
  file:close()
  return lines
end

--- The loaded buffer of a document, or else the lines of its file.
---@param uri string
---@return integer? bufnr
---@return string[]? lines
function Lines:source(uri)
  local bufnr = self.buffers[uri]
  if not bufnr and not self.read[uri] then
    bufnr = documents.loaded(uri, self.files)
    self.buffers[uri] = bufnr
  end
  -- It may be closed while an answer is waited for.
  if bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr, nil
  end
  self.read[uri] = self.read[uri] or lines_of_file(uri)
  return nil, self.read[uri]
end

---@param uri string
---@param row integer From 0.
---@return string? line
function Lines:line(uri, row)
  local bufnr, lines = self:source(uri)
  if bufnr then
    return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  end
  local line = lines and lines[row + 1]
  return line and (line:gsub("\r$", ""))
end

--- The hash of a document's text as it was when this was first asked for.
---@param uri string
---@return string? hash
function Lines:hash(uri)
  if not self.hashes[uri] then
    local bufnr, lines = self:source(uri)
    if bufnr then
      lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
      if vim.bo[bufnr].endofline then
        table.insert(lines, "")
      end
    end
    self.hashes[uri] = lines and documents.hash(table.concat(lines, "\n"))
  end
  return self.hashes[uri]
end

---@class azimuth.lang.Reader What the answers of one client are read with.
---@field encoding string What it counts in.
---@field lines azimuth.lang.Lines
---@field versions table<string, integer> The versions of open documents when it was asked, by URI.
---@field limit integer How many items of a list are read.
---@field is_cut boolean Whether a list had more.
local Reader = {}
Reader.__index = Reader

---@param client vim.lsp.Client
---@param lines azimuth.lang.Lines
---@param versions table<string, integer>
---@param limit integer
---@return azimuth.lang.Reader
function M.reader(client, lines, versions, limit)
  return setmetatable({
    encoding = client.offset_encoding or "utf-16",
    lines = lines,
    versions = versions,
    limit = limit,
    is_cut = false,
  }, Reader)
end

--- A position of ours in the units of the client.
---@param uri string
---@param position azimuth.Position
---@return lsp.Position
function Reader:theirs(uri, position)
  local line = self.encoding ~= "utf-16" and self.lines:line(uri, position.line)
  if not line then
    return { line = position.line, character = position.character }
  end
  return { line = position.line, character = positions.character(self.encoding, line, positions.byte("utf-16", line, position.character)) }
end

---@param uri string
---@param range azimuth.Range
---@return lsp.Range
function Reader:their_range(uri, range)
  return { start = self:theirs(uri, range.start), ["end"] = self:theirs(uri, range["end"]) }
end

---@param value any
---@return integer
local function number(value)
  assert(type(value) == "number" and value >= 0 and value == math.floor(value), "a place is no number")
  return math.min(value, MAX_NUMBER)
end

---@param value any
---@param limit? integer In bytes.
---@return string
local function string_of(value, limit)
  assert(type(value) == "string", "a text is missing")
  return text.cut(value, limit)
end

---@param value any
---@return string?
local function optional(value)
  return type(value) == "string" and value ~= "" and text.cut(value) or nil
end

--- A list, or an error for what is none; `null` is an empty one.
---@param value any
---@return any[]
function M.list(value)
  assert(value == nil or (type(value) == "table" and (next(value) == nil or #value > 0)), "a list is missing")
  return value or {}
end

--- The first items of a list, as many as are read: turning more into what we speak would hold up the editor for nothing.
---@param value any
---@return any[]
function Reader:first(value)
  local list = M.list(value)
  if #list <= self.limit then
    return list
  end
  self.is_cut = true
  return vim.list_slice(list, 1, self.limit)
end

---@param uri any
---@return string
local function uri_of(uri)
  assert(type(uri) == "string" and #uri < 10000 and uri:find("^%a[%w+.-]*:"), "a URI is missing")
  return documents.normal(uri)
end

---@param uri string
---@param position any
---@return azimuth.Position
function Reader:position(uri, position)
  assert(type(position) == "table", "a place is missing")
  local row, character = number(position.line), number(position.character)
  local line = self.encoding ~= "utf-16" and self.lines:line(uri, row)
  if line then
    character = positions.character("utf-16", line, positions.byte(self.encoding, line, character))
  end
  return { line = row, character = character }
end

---@param uri string
---@param range any
---@return azimuth.Range
function Reader:range(uri, range)
  assert(type(range) == "table", "a range is missing")
  return { start = self:position(uri, range.start), ["end"] = self:position(uri, range["end"]) }
end

-- Places and symbols ------------------------------------------------------------------------------------------------

---@param location any An LSP `Location` or `LocationLink`.
---@return azimuth.LangLocation
function Reader:location(location)
  local uri = uri_of(location.uri or location.targetUri)
  return { uri = uri, range = self:range(uri, location.range or location.targetSelectionRange or location.targetRange) }
end

---@param result any
---@return azimuth.LangLocation[]
function Reader:locations(result)
  if type(result) == "table" and (result.uri or result.targetUri) then
    result = { result }
  end
  return vim.tbl_map(function(location)
    return self:location(location)
  end, self:first(result))
end

---@param kind any
---@return integer
local function symbol_kind(kind)
  return math.min(math.max(number(kind), 1), 255)
end

--- A symbol that says where all of it and where its name is: `CallHierarchyItem` and `TypeHierarchyItem`.
---@param item any
---@return azimuth.LangSymbol
function Reader:item(item)
  local uri = uri_of(item.uri)
  return {
    name = string_of(item.name),
    kind = symbol_kind(item.kind),
    detail = optional(item.detail),
    depth = 0,
    location = { uri = uri, range = self:range(uri, item.range) },
    selection = self:range(uri, item.selectionRange),
  }
end

---@param result any `TypeHierarchyItem[]`
---@return azimuth.LangSymbol[]
function Reader:items(result)
  return vim.tbl_map(function(item)
    return self:item(item)
  end, self:first(result))
end

--- LSP's `SymbolInformation`, or a `WorkspaceSymbol`, which may name its document alone.
---@param symbol any
---@return azimuth.LangSymbol
function Reader:symbol_information(symbol)
  assert(type(symbol.location) == "table", "a place is missing")
  local uri = uri_of(symbol.location.uri)
  local top = { line = 0, character = 0 }
  local range = symbol.location.range and self:range(uri, symbol.location.range) or { start = top, ["end"] = top }
  return {
    name = string_of(symbol.name),
    kind = symbol_kind(symbol.kind),
    container = optional(symbol.containerName),
    depth = 0,
    location = { uri = uri, range = range },
    selection = { start = range.start, ["end"] = range.start },
  }
end

--- Puts symbols that come as a flat list into their order, and finds how deep each lies.
---@param symbols azimuth.LangSymbol[]
local function nest(symbols)
  local place = {}
  for at, symbol in ipairs(symbols) do
    place[symbol] = at
  end
  table.sort(symbols, function(a, b)
    local first, second = a.location.range, b.location.range
    if ranges.is_before(first.start, second.start) or ranges.is_before(second.start, first.start) then
      return ranges.is_before(first.start, second.start)
    elseif ranges.is_before(first["end"], second["end"]) or ranges.is_before(second["end"], first["end"]) then
      return ranges.is_before(second["end"], first["end"])
    end
    return place[a] < place[b]
  end)
  local around = {}
  for _, symbol in ipairs(symbols) do
    local range = symbol.location.range
    local function is_outside(other)
      return ranges.is_before(other["end"], range["end"]) or not ranges.is_before(range.start, other["end"])
    end
    while #around > 0 and is_outside(around[#around]) do
      table.remove(around)
    end
    symbol.depth = #around
    table.insert(around, range)
  end
end

--- The symbols of a document, each before those that are in it.
---@param uri string
---@param result any `DocumentSymbol[]` or `SymbolInformation[]`.
---@return azimuth.LangSymbol[]
function Reader:document_symbols(uri, result)
  local symbols = {}
  local function add(children, container, depth)
    for _, symbol in ipairs(M.list(children)) do
      if #symbols >= self.limit then
        self.is_cut = true
        return
      end
      table.insert(symbols, {
        name = string_of(symbol.name),
        kind = symbol_kind(symbol.kind),
        detail = optional(symbol.detail),
        container = container,
        depth = depth,
        location = { uri = uri, range = self:range(uri, symbol.range) },
        selection = self:range(uri, symbol.selectionRange),
      })
      add(symbol.children, symbols[#symbols].name, depth + 1)
    end
  end
  if type(result) == "table" and result[1] and result[1].location then
    symbols = self:workspace_symbols(result)
    nest(symbols)
  else
    add(result, nil, 0)
  end
  return symbols
end

---@param result any
---@return azimuth.LangSymbol[]
function Reader:workspace_symbols(result)
  return vim.tbl_map(function(symbol)
    return self:symbol_information(symbol)
  end, self:first(result))
end

---@param result any `CallHierarchyIncomingCall[]`
---@return azimuth.LangCall[]
function Reader:incoming(result)
  return vim.tbl_map(function(call)
    local symbol = self:item(call.from)
    return { symbol = symbol, ranges = self:ranges(symbol.location.uri, call.fromRanges) }
  end, self:first(result))
end

---@param caller any The `CallHierarchyItem` that was asked for.
---@param result any `CallHierarchyOutgoingCall[]`
---@return azimuth.LangCall[]
function Reader:outgoing(caller, result)
  return vim.tbl_map(function(call)
    return { symbol = self:item(call.to), ranges = self:ranges(uri_of(caller.uri), call.fromRanges) }
  end, self:first(result))
end

---@param uri string
---@param list any `Range[]`
---@return azimuth.Range[]
function Reader:ranges(uri, list)
  return vim.tbl_map(function(range)
    return self:range(uri, range)
  end, self:first(list))
end

-- Texts -------------------------------------------------------------------------------------------------------------

--- The text of a hover, in Markdown.
---@param result any
---@return string
function M.hover(result)
  local contents = type(result) == "table" and result.contents or ""
  local function markdown(part)
    if type(part) == "string" then
      return part
    end
    assert(type(part) == "table" and type(part.value) == "string", "a text is missing")
    return part.language and ("```%s\n%s\n```"):format(tostring(part.language), part.value) or part.value
  end
  local parts = vim.islist(contents) and contents or { contents }
  return text.cut(vim.trim(table.concat(vim.tbl_map(markdown, parts), "\n\n")), MAX_TEXT)
end

local SEVERITIES = { "error", "warning", "information", "hint" }

---@param uri string
---@param diagnostics lsp.Diagnostic[]
---@return azimuth.LangDiagnostic[]
function Reader:diagnostics(uri, diagnostics)
  return vim.tbl_map(function(diagnostic)
    local message = diagnostic.message
    -- LSP 3.18 has Markdown there.
    message = type(message) == "table" and message.value or message
    return {
      range = self:range(uri, diagnostic.range),
      severity = SEVERITIES[diagnostic.severity] or "error",
      message = string_of(message, MAX_TEXT),
      source = optional(diagnostic.source),
      code = optional(type(diagnostic.code) == "number" and ("%d"):format(diagnostic.code) or diagnostic.code),
    }
  end, self:first(diagnostics))
end

-- Edits and actions -------------------------------------------------------------------------------------------------

--- Edits of one document, as a step.
---@param uri string
---@param edits any
---@return azimuth.LangChange.Text
function Reader:text_change(uri, edits)
  uri = uri_of(uri)
  local version = self.versions[uri]
  local change = {
    type = "text",
    uri = uri,
    version = version,
    -- Our server itself reads a document that it does not have open, and that may be another text by then.
    hash = not version and self.lines:hash(uri) or nil,
    edits = vim.tbl_map(function(edit)
      assert(type(edit.newText) == "string", "a new text is missing")
      return { range = self:range(uri, edit.range), newText = edit.newText }
    end, M.list(edits)),
  }
  assert(ranges.are_apart(change.edits), "its edits overlap")
  return change
end

---@param change any A step of an LSP `WorkspaceEdit`.
---@return azimuth.LangChange
function Reader:step(change)
  if change.kind == "create" or change.kind == "delete" then
    return { type = change.kind, uri = uri_of(change.uri) }
  elseif change.kind == "rename" then
    return { type = "rename", from = uri_of(change.oldUri), to = uri_of(change.newUri) }
  end
  assert(change.kind == nil and type(change.textDocument) == "table", "a step is of no kind that is known")
  return self:text_change(change.textDocument.uri, change.edits)
end

--- Checks that an edit is none that nobody could review, before any of it is turned into what we speak.
---@param steps any[]
local function check_bounds(steps)
  local count, weight = #steps, 0
  for _, step in ipairs(steps) do
    local edits = M.list(step.edits)
    count = count + #edits
    for at = 1, count <= MAX_EDITS and #edits or 0 do
      weight = weight + #(edits[at].newText or "")
    end
  end
  assert(count <= MAX_EDITS and weight <= MAX_NEW_TEXT, ("it would change too much: %d places, %d bytes"):format(count, weight))
end

--- The steps of a `WorkspaceEdit`; text edits that change nothing are left out.
---@param edit any
---@return azimuth.LangChange[]
function Reader:edit(edit)
  if edit == nil then
    return {}
  end
  assert(type(edit) == "table", "an edit is missing")
  local steps = M.list(edit.documentChanges)
  if not edit.documentChanges then
    -- A map has no order: this one is the same each time.
    local uris = vim.tbl_keys(edit.changes or {})
    table.sort(uris)
    steps = vim.tbl_map(function(uri)
      return { textDocument = { uri = uri }, edits = edit.changes[uri] }
    end, uris)
  end
  check_bounds(steps)
  local changes = vim.tbl_map(function(step)
    return self:step(step)
  end, steps)
  return vim.tbl_filter(function(change)
    return change.type ~= "text" or #change.edits > 0
  end, changes)
end

--- True if an action is a bare command, of the LSP before 3.8.
---@param action any
---@return boolean
function M.is_command(action)
  return type(action.command) == "string"
end

--- The name of an action in `codeAction`.
---@param action any
---@return string
function M.title(action)
  return text.one_line(string_of(action.title), 1000)
end

---@param action any An LSP `CodeAction` or `Command`.
---@param is_resolved boolean Whether its edit, if it has one, is in it already.
---@return azimuth.LangAction
function M.action(action, is_resolved)
  local reason = type(action.disabled) == "table" and (optional(action.disabled.reason) or "It cannot be done here.") or nil
  if not reason and not action.edit and (M.is_command(action) or (is_resolved and action.command)) then
    reason = "It is a command of the language server, whose effect is not known beforehand."
  end
  return {
    title = M.title(action),
    kind = optional(action.kind),
    preferred = action.isPreferred == true,
    disabled = reason,
  }
end

--- True if an action is of a kind, or of one below it.
---@param action any
---@param kind? string
---@return boolean
function M.is_of_kind(action, kind)
  if not kind or kind == "" then
    return true
  end
  local own = type(action.kind) == "string" and action.kind or ""
  return own == kind or vim.startswith(own, kind .. ".")
end

return M
