--- Questions about code, answered by a real language server: pyright, over stdio, as a user has it.
---
--- PYRIGHT names the program `pyright-langserver`; without it these tests do not run.

local models = require("model")
local support = require("support")

local T = {}

if not vim.env.PYRIGHT then
  io.stdout:write("skip lang_real_test.lua: PYRIGHT names no pyright-langserver\n")
  return T
end

local shapes = [[
class Shape:
    """A shape."""

    def area(self) -> float:
        return 0.0


class Square(Shape):
    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side * self.side
]]

local main = [[
from shapes import Square


def total(sides: list[float]) -> float:
    return sum(Square(side).area() for side in sides)


print("🦀", total([1.0, 2.0]))
wrong: int = "text"
]]

--- Asks as the server does.
---@param child Child
---@param query table
---@param within? integer
---@return azimuth.LangResult
local function answer(child, query, within)
  child:lua(
    [[
      local query, within = ...
      local own = require("azimuth.client").lsp_client()
      local method = require("azimuth.generated.protocol").client_requests.editor_query
      _G.answer = nil
      coroutine.wrap(function()
        _G.answer = own.handlers[method](nil, { query = query, timeoutMs = within }, { client_id = own.id, method = method })
      end)()
    ]],
    query,
    within or 20000
  )
  return child:wait("_G.answer", 30000)
end

---@param test fun(child: Child, uri: (fun(file: string): string), model: Model)
local function with_pyright(test)
  local place = support.place({ ["shapes.py"] = shapes, ["main.py"] = main, ["pyrightconfig.json"] = "{}\n", ["other.md"] = "text\n" })
  local model = models.start({})
  support.use_model(place, model)
  local child = support.start(place)
  local ok, problem = xpcall(function()
    -- As in a user's own configuration.
    child:lua(
      [[
        local command = { ..., "--stdio" }
        vim.cmd("filetype on")
        if vim.fn.has("nvim-0.11") == 1 then
          vim.lsp.config("pyright", { cmd = command, filetypes = { "python" }, root_markers = { "pyrightconfig.json" } })
          vim.lsp.enable("pyright")
        else
          vim.api.nvim_create_autocmd("FileType", { pattern = "python", callback = function()
            vim.lsp.start({ name = "pyright", cmd = command, root_dir = vim.fs.root(0, "pyrightconfig.json") })
          end })
        end
      ]],
      vim.env.PYRIGHT
    )
    child:command("edit other.md")
    child:open_chat()
    child:command("stopinsert | Azimuth chat")
    test(child, function(file)
      return vim.uri_from_fname(place.project .. "/" .. file)
    end, model)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param locations azimuth.LangLocation[]
---@return string[]
local function lines_of(locations)
  local lines = vim.tbl_map(function(location)
    return ("%s:%d"):format(vim.fs.basename(vim.uri_to_fname(location.uri)), location.range.start.line + 1)
  end, locations)
  table.sort(lines)
  return lines
end

function T.pyright_answers_for_files_that_are_not_open()
  with_pyright(function(child, uri)
    -- It is not even running yet.
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 0)
    local square = { line = 4, character = 17 }
    local said = answer(child, { type = "definition", uri = uri("main.py"), position = square })
    support.equal({ said.status, said.servers[1].name }, { "ready", "pyright" })
    support.equal(lines_of(said.answer.locations), { "shapes.py:8" })
    support.equal(child:lua("return { vim.fn.bufloaded('main.py'), vim.fn.bufloaded('shapes.py') }"), { 0, 0 })

    said = answer(child, { type = "references", uri = uri("shapes.py"), position = { line = 7, character = 8 } })
    support.equal(lines_of(said.answer.locations), { "main.py:1", "main.py:5", "shapes.py:8" })

    said = answer(child, { type = "hover", uri = uri("main.py"), position = { line = 3, character = 5 } })
    support.contains(said.answer.text, "def total(sides: list[float]) -> float")

    said = answer(child, { type = "documentSymbols", uri = uri("shapes.py") })
    local symbols = vim.tbl_map(function(symbol)
      return ("  "):rep(symbol.depth) .. symbol.name
    end, said.answer.symbols)
    support.equal(vim.list_slice(symbols, 1, 5), { "Shape", "  area", "Square", "  __init__", "    side" })

    said = answer(child, { type = "workspaceSymbols", query = "Square", uri = uri("shapes.py") })
    support.equal(said.answer.symbols[1].name, "Square")

    said = answer(child, { type = "incomingCalls", uri = uri("main.py"), position = { line = 3, character = 5 } })
    support.equal({ #said.answer.calls, said.answer.calls[1].ranges[1].start }, { 1, { line = 7, character = 12 } })

    said = answer(child, { type = "rename", uri = uri("shapes.py"), position = { line = 7, character = 8 }, newName = "Box" })
    local changed = {}
    for _, change in ipairs(said.answer.changes) do
      changed[vim.fs.basename(change.uri)] = #change.edits
    end
    support.equal(changed, { ["shapes.py"] = 1, ["main.py"] = 2 })

    said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 1 })
    support.equal(said.answer.documents[1].diagnostics[1].range.start, { line = 8, character = 13 })
    support.contains(said.answer.documents[1].diagnostics[1].message, "not assignable")
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 1)
  end)
end

function T.the_agent_asks_it_and_a_rename_is_reviewed_and_undone_as_one()
  with_pyright(function(child, uri, model)
    model.answers = {
      { calls = { { name = "lsp_definition", input = { path = "main.py", line = 6, text = "Square" } } } },
      { calls = { { name = "lsp_references", input = { path = "shapes.py", symbol = "Square" } } } },
      { calls = { { name = "lsp_diagnostics", input = { path = "main.py" } } } },
      { calls = { { name = "lsp_rename", input = { path = "shapes.py", symbol = "Square", new_name = "Box" } } } },
      { text = "Renamed." },
    }
    -- A user has one of both files open, with what is not saved.
    child:command("edit main.py")
    child:lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# mine' })")
    child:prompt("Call it a box.")
    child:wait_for("Renamed.", 60000)
    local read = ""
    for _, message in ipairs(model.asked[#model.asked].messages) do
      read = read .. (message.role == "tool" and message.content .. "\n" or "")
    end
    -- The definition alone, and as one of the references.
    local _, times = read:gsub("shapes%.py:8: class Square%(Shape%):", "")
    support.equal(times, 2)
    support.contains(read, "main.py:6: return sum(Square(side).area() for side in sides)")
    support.contains(read, "main.py:10:14: error")
    support.contains(read, "[pyright: ready")
    -- It is one proposal, of both files.
    support.equal(support.read(vim.uri_to_fname(uri("shapes.py"))), shapes)
    child:command("stopinsert | Azimuth accept all")
    child:wait("vim.fn.bufnr('main.py') > 0 and vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 1, 2, true)[1] == 'from shapes import Box'")
    child:wait(("table.concat(vim.fn.readfile(%q)):find('class Box', 1, true) ~= nil"):format(vim.uri_to_fname(uri("shapes.py"))))
    support.equal(child:lua("return vim.fn.bufloaded('shapes.py')"), 0)
    support.equal(child:lua("return #vim.lsp.get_clients({ name = 'pyright' })"), 1)
    -- And taken back as one.
    child:lua([[
      local client = require("azimuth.client")
      local undo = require("azimuth.generated.protocol").requests.checkpoint_undo
      client.request(undo, { sessionId = client.session() }, function(err, result) _G.undone = err or result end)
    ]])
    child:wait("_G.undone")
    child:wait("vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 1, 2, true)[1] == 'from shapes import Square'")
    support.equal(support.read(vim.uri_to_fname(uri("shapes.py"))), shapes)
    support.equal(child:lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 0, 1, true)"), { "# mine" })
  end)
end

function T.pyright_answers_about_what_is_not_saved()
  with_pyright(function(child, uri)
    child:command("edit main.py")
    child:lua("vim.api.nvim_buf_set_lines(0, 8, 9, true, { 'right: int = 1', 'wrong: str = total([])' })")
    local said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    local document = said.answer.documents[1]
    support.equal({ said.status, #document.diagnostics, document.diagnostics[1].range.start.line }, { "ready", 1, 9 })
    support.equal(said.version, child:lua("return vim.api.nvim_buf_get_changedtick(0)"))
    support.equal(document.version, said.version)
    child:lua("vim.api.nvim_buf_set_lines(0, 9, 10, true, {})")
    said = answer(child, { type = "diagnostics", uri = uri("main.py") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 0 })
    said = answer(child, { type = "rename", uri = uri("main.py"), position = { line = 3, character = 5 }, newName = "sum_of" })
    support.equal(said.answer.changes[1].version, said.version)
    support.equal(child:lua("return vim.lsp.get_clients({ name = 'pyright' })[1].name"), "pyright")
  end)
end

return T
