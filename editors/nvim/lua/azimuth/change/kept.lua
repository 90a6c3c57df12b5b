--- The instructions of which something waits for the user, as files: another Neovim finds them by these. The server has
--- their sessions, and does not say which of them are decided.

local config = require("azimuth.config")

local M = {}

---@class azimuth.change.Record
---@field session_id string
---@field uri string
---@field kind azimuth.change.Kind
---@field spans azimuth.change.Span[]
---@field at integer The time at which it began, in seconds since the Unix epoch.

--- The file of a session, which is below the project's folder in the name.
---@param root string
---@param session_id string Or a pattern of file names.
---@return string
local function path(root, session_id)
  return config.file("state", ("change-%s-%s.json"):format(vim.fn.sha256(root):sub(1, 16), session_id))
end

--- Keeps an instruction. If it cannot be written, it is only not found again.
---@param root string The project's folder.
---@param record azimuth.change.Record
function M.write(root, record)
  config.write_private(path(root, record.session_id), vim.json.encode(record))
end

---@param root string
---@param session_id string
function M.remove(root, session_id)
  vim.uv.fs_unlink(path(root, session_id))
end

---@param record any
---@return boolean
local function is_record(record)
  local function is_span(span)
    return type(span) == "table"
      and vim.iter({ "row", "col", "end_row", "end_col" }):all(function(name)
        return type(span[name]) == "number" and span[name] >= 0
      end)
  end
  return type(record) == "table"
    and type(record.session_id) == "string"
    and type(record.uri) == "string"
    and type(record.kind) == "string"
    and type(record.at) == "number"
    and vim.islist(record.spans)
    and vim.iter(record.spans):all(is_span)
end

--- The instructions of a project, the last one last.
---@param root string
---@return azimuth.change.Record[]
function M.all(root)
  local records = {}
  for _, file in ipairs(vim.fn.glob(path(root, "*"), true, true)) do
    local ok, record = pcall(vim.json.decode, config.read(file) or "")
    if ok and is_record(record) then
      table.insert(records, record)
    end
  end
  table.sort(records, function(one, other)
    return one.at < other.at or (one.at == other.at and one.session_id < other.session_id)
  end)
  return records
end

return M
