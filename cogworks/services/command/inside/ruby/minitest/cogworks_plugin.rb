# A reporter of Minitest beside the repository's own: one JSON object a line for each test that ends.
# Minitest loads whatever lies on the load path under such a name.
require "json"

module Minitest
  class CogworksReporter < AbstractReporter
    LONGEST = 4000

    def initialize(path)
      super()
      @path = path
    end

    def start
      write(type: "run:start")
    end

    # A process that ends in the middle comes never here.
    def report
      write(type: "run:end")
    end

    def record(result)
      group = result.respond_to?(:klass) ? result.klass : result.class.name
      file, line = place_of(result)
      failure = result.failures.first
      write(
        type: result.passed? || result.skipped? ? "test:pass" : "test:fail",
        name: "#{group} > #{result.name}",
        nesting: 0,
        file: file && File.expand_path(file),
        line: line,
        skip: result.skipped?,
        message: failure ? "#{failure.message}\n#{failure.location}".scrub[0, LONGEST] : ""
      )
    end

    private

    def write(event)
      File.open(@path, "a") { |report| report.puts(JSON.generate(event)) }
    end

    def place_of(result)
      return result.source_location if result.respond_to?(:source_location)

      result.method(result.name).source_location
    end
  end

  def self.plugin_cogworks_init(_options)
    path = ENV["COGWORKS_REPORT"]
    reporter << CogworksReporter.new(path) if path
  end
end
